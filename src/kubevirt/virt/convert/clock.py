"""The hardware clock and its timers."""

from kubevirt.api import clock as api
from kubevirt.virt.convert.guest import Guest, is_on
from kubevirt.virt.domain.clock import Clock, Timer
from kubevirt.virt.errors import SpecError


def clock(guest: Guest) -> Clock:
    spec = guest.domain.clock or api.Clock()
    timers = (*_timers(spec.timer), *_tsc(guest))
    if spec.utc is not None and spec.timezone is not None:
        raise SpecError("clock has both utc and timezone; keep one of them")
    if spec.timezone is not None:
        return Clock(offset="timezone", timezone=spec.timezone, timers=timers)
    if spec.utc is None:
        return Clock(offset="utc", timers=timers)
    seconds = spec.utc.offset_seconds
    adjustment = "reset" if seconds is None else str(seconds)
    return Clock(offset="utc", adjustment=adjustment, timers=timers)


def _timers(spec: api.Timer | None) -> list[Timer]:
    if spec is None:
        return []
    timers = []
    if rtc := spec.rtc:
        timers.append(
            Timer(
                name="rtc", track=rtc.track, tickpolicy=rtc.tick_policy, present=is_on(rtc.present)
            )
        )
    if pit := spec.pit:
        timers.append(Timer(name="pit", tickpolicy=pit.tick_policy, present=is_on(pit.present)))
    if kvm := spec.kvm:
        timers.append(Timer(name="kvmclock", present=is_on(kvm.present)))
    if hpet := spec.hpet:
        timers.append(Timer(name="hpet", tickpolicy=hpet.tick_policy, present=is_on(hpet.present)))
    if hyperv := spec.hyperv:
        timers.append(Timer(name="hypervclock", present=is_on(hyperv.present)))
    return timers


def _tsc(guest: Guest) -> list[Timer]:
    """The frequency that every node for this guest offers, for guests that rely on it."""
    hints = guest.vmi.status.topology_hints
    return (
        [Timer(name="tsc", frequency=hints.tsc_frequency)] if hints and hints.tsc_frequency else []
    )
