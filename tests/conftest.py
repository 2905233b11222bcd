"""What all tests need."""

from __future__ import annotations

import signal


def pytest_sessionstart() -> None:
    """Hear interrupts: a shell starts its background jobs deaf to them, and so would be every
    program that tests interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
