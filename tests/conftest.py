"""What all tests need."""

from __future__ import annotations

import os
import signal


def pytest_sessionstart() -> None:
    """Keep no answers from one test to the next: a test may change what answers follow from. And
    hear interrupts: a shell starts its background jobs deaf to them, and so would be every
    program that tests interrupt."""
    os.environ["BREAKSCOPE_CACHE_DIR"] = os.devnull
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
