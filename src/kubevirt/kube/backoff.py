"""Back-off: how long to wait before the next try, growing with each failure in a row.

What counts as a failure is the caller's business: `queue.py` counts per key, a watch counts its own
reconnects. A success must say `forget`, or the next trouble starts where the last one ended.
"""

import random
from collections.abc import Hashable
from typing import Generic, TypeVar

from msgspec import Struct

K = TypeVar("K", bound=Hashable)


class BackoffSettings(Struct, frozen=True, kw_only=True):
    """The defaults are those of client-go's queues, so a busy cluster sees the pace it knows."""

    base_s: float = 0.005
    """Seconds before the first retry. Short: most failures are a conflict that is gone at once."""
    factor: float = 2.0
    """How much longer each wait is than the one before."""
    cap_s: float = 1000.0
    """The longest wait, reached after 18 failures with the defaults."""
    jitter: float = 0.0
    """Up to this part of the wait is added at random. For many clients that fail together, such as
    when a server restarts; keys of one queue need none, since their failures are spread already."""


class KeyedBackoff(Generic[K]):
    """Failures in a row per key. Keys that did not fail cost nothing."""

    def __init__(
        self, settings: BackoffSettings, *, randomness: random.Random | None = None
    ) -> None:
        self._settings = settings
        self._random = randomness or random.Random()  # noqa: S311  # spreads load, hides nothing
        self._failures: dict[K, int] = {}

    def next(self, key: K) -> float:
        """Counts a failure and says how many seconds to wait for it."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        return self._wait_after(failures)

    def failures(self, key: K) -> int:
        return self._failures.get(key, 0)

    def forget(self, key: K) -> None:
        self._failures.pop(key, None)

    def _wait_after(self, failures: int) -> float:
        settings = self._settings
        try:
            wait = min(settings.base_s * settings.factor**failures, settings.cap_s)
        except OverflowError:  # a key that has failed a thousand times
            wait = settings.cap_s
        return wait * (1 + settings.jitter * self._random.random()) if settings.jitter else wait


class Backoff:
    """The same for one thing that is tried again and again."""

    def __init__(
        self, settings: BackoffSettings, *, randomness: random.Random | None = None
    ) -> None:
        self._keyed: KeyedBackoff[None] = KeyedBackoff(settings, randomness=randomness)

    def next(self) -> float:
        return self._keyed.next(None)

    def forget(self) -> None:
        self._keyed.forget(None)
