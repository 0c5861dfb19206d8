"""Ages, as people read them: 5s, 3m10s, 2d3h, 1y20d."""

from datetime import datetime
from typing import Any

UNKNOWN = "<unknown>"
INVALID = "<invalid>"


def age(moment: Any, now: float) -> str:
    """Of a time as it stands in an object."""
    if not isinstance(moment, str) or not moment:
        return UNKNOWN
    try:
        return duration(now - datetime.fromisoformat(moment).timestamp())
    except ValueError:
        return INVALID


def duration(seconds: float) -> str:
    """The two units that matter."""
    whole = int(seconds)
    if seconds < -1:
        return INVALID
    if whole < 120:
        return f"{whole}s"
    minutes = whole // 60
    if minutes < 10:
        return _two(minutes, "m", whole % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    hours = minutes // 60
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if hours < 192:
        return _two(hours // 24, "d", hours % 24, "h")
    days = hours // 24
    if days < 730:
        return f"{days}d"
    if days < 2920:
        return _two(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _two(many: int, unit: str, few: int, small: str) -> str:
    return f"{many}{unit}{few}{small}" if few else f"{many}{unit}"
