"""When a node counts as silent: nobody there has looked after guests for too long. Pure.

virt-handler writes a heartbeat a minute. A node that never had one is nobody's business here: no virt-handler was there.
"""

from datetime import datetime, timedelta
from typing import Final

PATIENCE: Final = timedelta(minutes=5)
"""KubeVirt's."""
HEARTBEAT: Final = "kubevirt.io/heartbeat"
UNRESPONSIVE: Final = "NodeUnresponsive"


def silent_from(heartbeat: str | None) -> datetime | None:
    """The moment from which on it does; None if there is no heartbeat that could be understood."""
    try:
        beat = datetime.fromisoformat(heartbeat or "")
    except ValueError:
        return None
    return beat + PATIENCE if beat.tzinfo is not None else None


def is_silent(heartbeat: str | None, now: datetime) -> bool:
    since = silent_from(heartbeat)
    return since is not None and since <= now
