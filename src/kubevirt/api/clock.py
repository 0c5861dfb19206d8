"""The guest's clock and timers."""

from typing import ClassVar

from kubevirt.api.struct import PRESERVE_UNKNOWN, Mark, Struct


class ClockOffsetUTC(Struct, frozen=True, kw_only=True):
    """Hardware clock in UTC."""

    offset_seconds: int | None = None
    """Distance from UTC in seconds; if set, the guest's own changes survive reboots."""


class ClockOffset(Struct, frozen=True, kw_only=True):
    """What the hardware clock shows at boot: UTC or a time zone."""

    timezone: str | None = None
    """Zone name such as Europe/Vienna; excludes utc."""
    utc: ClockOffsetUTC | None = None
    """UTC, set afresh at each boot unless an offset is given."""


class HPETTimer(Struct, frozen=True, kw_only=True):
    """High precision event timer."""

    present: bool | None = None
    """false removes it; true if not set."""
    tick_policy: str | None = None
    """What becomes of missed ticks: delay, catchup, merge or discard."""


class HypervTimer(Struct, frozen=True, kw_only=True):
    """Hyper-V reference time, best for Windows."""

    present: bool | None = None
    """false removes it; true if not set."""


class KVMTimer(Struct, frozen=True, kw_only=True):
    """Paravirtual kvmclock of Linux guests."""

    present: bool | None = None
    """false removes it; true if not set."""


class PITTimer(Struct, frozen=True, kw_only=True):
    """Programmable interval timer."""

    present: bool | None = None
    """false removes it; true if not set."""
    tick_policy: str | None = None
    """What becomes of missed ticks: delay, catchup or discard."""


class RTCTimer(Struct, frozen=True, kw_only=True):
    """Battery-backed real-time clock."""

    present: bool | None = None
    """false removes it; true if not set."""
    tick_policy: str | None = None
    """What becomes of missed ticks: delay or catchup."""
    track: str | None = None
    """Clock it follows: guest or wall."""


class Timer(Struct, frozen=True, kw_only=True):
    """Time sources of the guest; unnamed ones are left to the machine type."""

    hpet: HPETTimer | None = None
    """High precision event timer."""
    hyperv: HypervTimer | None = None
    """Hyper-V reference time."""
    kvm: KVMTimer | None = None
    """kvmclock."""
    pit: PITTimer | None = None
    """Programmable interval timer."""
    rtc: RTCTimer | None = None
    """Real-time clock."""


class Clock(Struct, frozen=True, kw_only=True):
    """Hardware clock and timers."""

    marks: ClassVar[tuple[Mark, ...]] = (PRESERVE_UNKNOWN,)

    timer: Timer | None = None
    """Timers to add, tune or remove."""
    timezone: str | None = None
    """Zone name such as Europe/Vienna, for guests that keep local time; excludes utc."""
    utc: ClockOffsetUTC | None = None
    """Keeps UTC, the usual choice; excludes timezone."""
