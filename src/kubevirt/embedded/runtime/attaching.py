"""The input of a container that runs: whoever is attached to it can say something to it."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from kubevirt.embedded.runtime.attempt import INPUT, Attempt
from kubevirt.embedded.runtime.ends import End


class Ear:
    def __init__(self, attempt: Attempt, stdin: End | None, *, is_once: bool) -> None:
        self._attempt = attempt
        self._is_once = is_once
        self.stdin = stdin
        """None if it does not listen, or not any more."""

    def close_stdin(self) -> None:
        """Nothing more comes from here; nor from anybody else if the container listens only once."""
        if self.stdin is None:
            return
        if self._is_once:
            self._attempt.end_input()
        self.stdin.close()
        self.stdin = None


@contextmanager
def attached(attempt: Attempt, *, has_input: bool, is_once: bool) -> Iterator[Ear]:
    ear = Ear(attempt, _opened(attempt) if has_input else None, is_once=is_once)
    try:
        yield ear
    finally:
        ear.close_stdin()


def _opened(attempt: Attempt) -> End | None:
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return End(os.open(attempt.folder / INPUT, flags))
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENXIO):
            raise
        return None  # it has none, or its keeper has closed it
