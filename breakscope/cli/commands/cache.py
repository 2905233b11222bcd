"""breakscope cache dir, breakscope cache clear"""

from __future__ import annotations

import os

import click

from breakscope.cli import options
from breakscope.cli.session import CLEAN, write
from breakscope.errors import UserError
from breakscope.store import Refused, Store


@click.group("cache")
def command() -> None:
    """Show or clear the result cache, which `check` keeps its answers in."""


@command.command("dir")
@options.cache_option
def show(cache_dir: str) -> int:
    """Print the folder of the cache."""
    _store(cache_dir).close()
    write(os.path.abspath(cache_dir) + "\n")
    return CLEAN


@command.command("clear")
@options.cache_option
def clear(cache_dir: str) -> int:
    """Remove all stored answers, and nothing else that lies in the folder."""
    store = _store(cache_dir)
    count = store.clear()
    store.close()
    write(f"{count} stored answer{'' if count == 1 else 's'} removed\n")
    return CLEAN


def _store(folder: str) -> Store:
    """The store; raises UserError where `check` would use none."""
    if not folder:
        raise UserError("there is no cache folder: neither HOME nor XDG_CACHE_HOME names one")
    try:
        return Store(os.path.abspath(folder))
    except Refused as problem:
        raise UserError(f"the cache is not used: {folder} {problem}") from None
