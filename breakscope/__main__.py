"""The `breakscope` command."""

from __future__ import annotations

import gc
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run a command line; the exit code. Without one it is the process's own, which may end in
    here."""
    is_script = arguments is None
    arguments = sys.argv[1:] if is_script else arguments
    command, *paths = arguments or [""]
    if command == "check" and paths and not any(path.startswith("-") for path in paths):
        return check_paths(tuple(paths), is_script)
    from breakscope.cli.app import run

    return run(arguments, is_script)


def check_paths(paths: tuple[str, ...], is_script: bool) -> int:
    """`breakscope check PATH...`: without an option there is nothing that takes click to read, and
    hooks and editors need not wait for its import."""
    if is_script:
        gc.disable()  # a short process that ends behind the report
    from breakscope.cli.session import OutputOptions, answer
    from breakscope.static.jobs import cores
    from breakscope.store import default_folder
    from breakscope.workflows.check import CheckOptions, check

    options = CheckOptions(paths=paths, jobs=cores(), cache=default_folder())
    return answer(lambda config: check(options, config), OutputOptions(), ends_process=is_script)


if __name__ == "__main__":
    sys.exit(main())
