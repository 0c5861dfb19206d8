"""A terminal that hands on every key as it is typed, and is put back however that ends."""

import os
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def raw(descriptor: int) -> Iterator[bool]:
    """Tells whether it is a terminal; what is none is left as it is."""
    if not os.isatty(descriptor):
        yield False
        return
    before = termios.tcgetattr(descriptor)
    try:
        tty.setraw(descriptor)
        yield True
    finally:
        # At once: what a guest still prints must not keep the terminal from its owner.
        termios.tcsetattr(descriptor, termios.TCSANOW, before)
