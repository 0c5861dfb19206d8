"""The guest's clock and timers."""

from kubevirt.api.struct import Int32, Struct


class ClockOffsetUTC(Struct, frozen=True, kw_only=True):
    """…"""

    offset_seconds: Int32 | None = None


class ClockOffset(Struct, frozen=True, kw_only=True):
    """…"""

    timezone: str | None = None
    utc: ClockOffsetUTC | None = None


class HPETTimer(Struct, frozen=True, kw_only=True):
    """…"""

    present: bool | None = None
    tick_policy: str | None = None


class HypervTimer(Struct, frozen=True, kw_only=True):
    """…"""

    present: bool | None = None


class KVMTimer(Struct, frozen=True, kw_only=True):
    """…"""

    present: bool | None = None


class PITTimer(Struct, frozen=True, kw_only=True):
    """…"""

    present: bool | None = None
    tick_policy: str | None = None


class RTCTimer(Struct, frozen=True, kw_only=True):
    """…"""

    present: bool | None = None
    tick_policy: str | None = None
    track: str | None = None


class Timer(Struct, frozen=True, kw_only=True):
    """…"""

    hpet: HPETTimer | None = None
    hyperv: HypervTimer | None = None
    kvm: KVMTimer | None = None
    pit: PITTimer | None = None
    rtc: RTCTimer | None = None


class Clock(Struct, frozen=True, kw_only=True):
    """…"""

    timer: Timer | None = None
    timezone: str | None = None
    utc: ClockOffsetUTC | None = None
