"""How long the past is kept: the revision up to which the log may forget.

Ages are measured by the monotonic clock of this process, never by the wall clock: a clock that jumps
neither forgets too early nor keeps forever. What was written before the start counts as written at
the start.
"""

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    keep_s: float = 300.0
    """Seconds for which every revision can still be listed and watched from; kube-apiserver's."""

    keep_events: int = 1000
    """So many of the newest events are kept however old they are: on a quiet system a client that
    was away for an hour resumes without a list."""

    look_every_s: float = 15.0
    """How often the age of revisions is looked at. What is kept too long is kept this much longer."""

    step: int = 256
    """Events forgotten in one transaction: a few milliseconds, for which writes wait."""

    pause_s: float = 0.02
    """Between two steps, so that writes get most of the disk."""


class Retention:
    """Remembers when which revision was reached."""

    def __init__(self, settings: RetentionSettings, now: float, revision: int) -> None:
        self._settings = settings
        self._reached: deque[tuple[float, int]] = deque([(now, revision)])
        self._expired = 0

    def floor(self, now: float, revision: int) -> int:
        """All before and at this revision may be forgotten, now that `revision` is the newest."""
        while self._reached and now - self._reached[0][0] >= self._settings.keep_s:
            _, self._expired = self._reached.popleft()
        if not self._reached or self._reached[-1][1] != revision:
            self._reached.append((now, revision))
        return max(0, min(self._expired, revision - self._settings.keep_events))
