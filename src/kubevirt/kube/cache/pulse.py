"""The pulse of a watch: how long it may be silent before it is not trusted any more.

A stream can die without a word: a firewall forgets it, a server hangs. TCP keep-alive (the client's)
notices a machine or a path that is gone. A server process that hangs still has a kernel that answers;
only its own words show that it lives. On a quiet resource these are the bookmarks, about one a minute
from kube-apiserver, so silence means nothing in less time than that. A server that sends them more
often is held to its own rhythm. And kube-apiserver sends none when there is nothing new since the
watch began: silence alone is no proof, only a reason to ask.

To give up a stream is cheap: the next one continues where it ended, and nothing is listed.
"""

RHYTHM_FACTOR = 2.5
"""How many times the gap between two bookmarks is not yet suspicious: one lost and one late."""

SHORTEST_LIMIT_S = 10.0
"""However fast the bookmarks came: a server may be busy for a while."""

SMALL_STEP_S = 1.0
"""A deadline that would move by less stays: a timer per event costs more than the event."""


class Pulse:
    def __init__(self, limit_s: float, now: float) -> None:
        self.limit_s = limit_s
        """Seconds of silence after which the stream is given up."""

        self.deadline = now + limit_s
        self._longest_limit_s = limit_s
        self._longest_gap_s = 0.0
        self._last_bookmark: float | None = None

    def beat(self, now: float, *, is_bookmark: bool = False) -> bool:
        """Something was heard. True if `deadline` moved."""
        if is_bookmark:
            self._learn_rhythm(now)
        deadline = now + self.limit_s
        if abs(deadline - self.deadline) < SMALL_STEP_S:
            return False
        self.deadline = deadline
        return True

    def _learn_rhythm(self, now: float) -> None:
        if self._last_bookmark is not None:
            # The longest, because a server also sends one right before it closes the stream.
            self._longest_gap_s = max(self._longest_gap_s, now - self._last_bookmark)
            limit_s = max(self._longest_gap_s * RHYTHM_FACTOR, SHORTEST_LIMIT_S)
            self.limit_s = min(limit_s, self._longest_limit_s)
        self._last_bookmark = now
