"""Wall time that went back.

Waits that must outlive this process are counted from moments on disk, by the clock on the wall. Somebody may set it
back: then a moment lies ahead of us, nobody knows how long ago it was, and the wait is taken as over. The other way
would make a pod wait for as long as the clock was wrong.
"""

from datetime import datetime, timedelta
from typing import Final

_SLACK: Final = timedelta(seconds=1)
"""Clocks that are kept in step go back by less."""


def has_gone_back(since: datetime, now: datetime) -> bool:
    return since > now + _SLACK
