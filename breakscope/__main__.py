"""The `breakscope` command.

`breakscope check PATH...` without options is answered here, without click and rich; all else goes to click, which calls
the same functions.
"""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run a command line; the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    paths = _plain_check(arguments)
    if paths:
        from breakscope.cli.session import OutputOptions, answer
        from breakscope.workflows.check import CheckOptions, check

        return answer(lambda config: check(CheckOptions(paths=paths), config), OutputOptions())
    from breakscope.cli.app import run

    return run(arguments)


def _plain_check(arguments: list[str]) -> tuple[str, ...]:
    """The paths of `check PATH...`, when nothing but paths follows; else nothing."""
    if len(arguments) < 2 or arguments[0] != "check" or any(a.startswith("-") for a in arguments):
        return ()
    return tuple(arguments[1:])


if __name__ == "__main__":
    sys.exit(main())
