"""The guest's clock and its timers."""

from msgspec import field

from kubevirt.virt.domain.xml.element import Attr, Element, YesNo


class Timer(Element, frozen=True, kw_only=True):
    name: Attr[str]
    track: Attr[str | None] = None
    tickpolicy: Attr[str | None] = None
    frequency: Attr[int | None] = None
    """Hertz; only of the tsc timer."""
    present: YesNo = None


class Clock(Element, frozen=True, kw_only=True):
    offset: Attr[str]
    """utc, timezone, variable or localtime."""
    adjustment: Attr[str | None] = None
    """Seconds, or reset."""
    timezone: Attr[str | None] = None
    timers: tuple[Timer, ...] = field(default=(), name="timer")
