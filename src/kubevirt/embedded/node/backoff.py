"""How long to wait before what failed is tried again, as a kubelet waits.

The first time is free, then it is ten seconds, twice as long each time, five minutes at most. Whoever
stayed up for ten minutes begins anew. Nothing is remembered here: the wait follows from the tries
themselves, so it is the same after a restart of this process. Wall time it has to be for that, as it
is in a kubelet: no other survives.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from kubevirt.embedded.node.seen import Tried

FIRST: Final = timedelta(seconds=10)
LONGEST: Final = timedelta(minutes=5)
FORGIVEN_AFTER: Final = 2 * LONGEST
TRIES_THAT_COUNT: Final = 7
"""With as many tries in a row the wait is the longest: older ones change nothing and may be forgotten."""

ERROR_SHOWN: Final = timedelta(seconds=1)
"""How long a status tells the error itself before it tells the wait for the next try: users who watch see
both, as they do of a kubelet, which tells the second with its next look.
"""

_NONE: Final = timedelta()


def wait_after(failures: int) -> timedelta:
    """After that many failures in a row."""
    if failures < 1:
        return _NONE
    return min(FIRST * (1 << min(failures - 1, 10)), LONGEST)


def between(tries: Sequence[Tried]) -> timedelta:
    """Between the end of the last try and the next one."""
    failures = 0
    for tried in tries[1:]:
        failures = 0 if _is_forgiven(tried) else failures + 1
    return wait_after(failures)


def next_start(tries: Sequence[Tried]) -> datetime:
    """The earliest moment at which a container whose last try has ended may be started again."""
    return end_of(tries[-1]) + between(tries)


def end_of(tried: Tried) -> datetime:
    """An end that nobody saw is not waited for."""
    seen = tried.ended.at if tried.ended else None
    return seen or tried.started_at


def _is_forgiven(tried: Tried) -> bool:
    return end_of(tried) - tried.started_at > FORGIVEN_AFTER


def go_duration(span: timedelta) -> str:
    """As Go writes it: `40s`, `1m20s`, `5m0s`."""
    minutes, seconds = divmod(int(span.total_seconds()), 60)
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"
