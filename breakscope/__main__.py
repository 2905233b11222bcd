"""The `breakscope` command.

`breakscope check PATH...` without options is answered here, without click and rich; all else goes to click, which calls
the same functions.
"""

from __future__ import annotations

import gc
import os
import sys
import time

from breakscope.glance import is_clean
from breakscope.unchanged import is_unchanged, keep


def main(arguments: list[str] | None = None) -> int:
    """Run a command line; the exit code."""
    is_script = arguments is None
    arguments = sys.argv[1:] if is_script else arguments
    paths = _plain_check(arguments)
    if paths:
        return _check(paths, is_script)
    from breakscope.cli.app import run

    return run(arguments, is_script)


def _check(paths: tuple[str, ...], is_script: bool) -> int:
    """`check PATH...`: files known to be clean, clean at a first look, or analysed. A script's process ends here."""
    began, trees, bytecode = time.time_ns(), {}, None
    if is_script:
        gc.disable()
        if is_unchanged(paths):
            os._exit(0)  # nothing was written; to free all that was imported takes a tenth of the time
        from breakscope.bytecode import Bytecode

        bytecode = Bytecode()
        sys.meta_path.insert(0, bytecode)
    if not is_clean(paths, trees):
        return _analyze(paths, trees, began, bytecode)
    if is_script:
        bytecode.keep()
        os._exit(0)
    return 0


def _analyze(paths: tuple[str, ...], trees: dict, began: int, bytecode) -> int:
    """Analyse the files; a script has its Bytecode, ends here, and keeps what the next one can use."""
    if bytecode:
        from breakscope.light_msgspec import import_msgspec

        import_msgspec()
    from breakscope.cli.session import OutputOptions, answer, says_nothing
    from breakscope.workflows.check import CheckOptions, check

    kept = []

    def checked(config):
        report = check(CheckOptions(paths=paths, trees=trees, keep=kept), config)
        if bytecode:
            bytecode.keep()
            if says_nothing(report, config):
                keep(paths, kept[0].workings.program.reads(), began)
        return report

    return answer(checked, OutputOptions(), ends_process=bytecode is not None)


def _plain_check(arguments: list[str]) -> tuple[str, ...]:
    """The paths of `check PATH...`, when nothing but paths follows; else nothing."""
    if len(arguments) < 2 or arguments[0] != "check" or any(a.startswith("-") for a in arguments):
        return ()
    return tuple(arguments[1:])


if __name__ == "__main__":
    sys.exit(main())
