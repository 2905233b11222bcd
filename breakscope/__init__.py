"""breakscope: where torch.compile breaks or recompiles, why, what it costs, and how it is fixed.

`breakscope.check(paths)` reads source, `breakscope.run(model, args)` calls a model under Dynamo,
`with breakscope.watch() as report:` watches a block of this process, and `breakscope.fix(paths)`
rewrites. Each gives a `Report`; `breakscope.as_text(report)` shows it as the commands do. Importing
breakscope imports nothing else; neither does it import torch.
"""

__version__ = "0.1.0"
__all__ = ["Finding", "Report", "UserError", "as_text", "check", "fix", "run", "watch"]

TYPE_CHECKING = False  # type checkers take it for true, and `typing` need not be imported
if TYPE_CHECKING:
    from breakscope.api import Finding, Report, UserError, as_text, check, fix, run, watch


def __getattr__(name: str):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from breakscope import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
