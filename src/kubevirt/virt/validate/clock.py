"""The guest's clock and timers."""

import re
from typing import Final

from kubevirt.api.clock import Timer
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.validate.causes import Causes, invalid, plain
from kubevirt.virt.validate.rules import Rules

POLICIES: Final = {
    "hpet": ("delay", "catchup", "merge", "discard"),
    "pit": ("delay", "catchup", "discard"),
    "rtc": ("delay", "catchup"),
}
TRACKS: Final = ("guest", "wall")
_ZONE: Final = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,3}")


def clock_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    del rules
    clock = spec.domain.clock
    if clock is None:
        return
    here = f"{field}.domain.clock"
    if clock.utc is not None and clock.timezone:
        yield invalid(here, f"{here} has both utc and timezone; keep one of them")
    if clock.timezone and not _ZONE.fullmatch(clock.timezone):
        yield invalid(
            f"{here}.timezone", f"{here}.timezone '{plain(clock.timezone)}' is no time zone"
        )
    if clock.timer:
        yield from _timers(clock.timer, f"{here}.timer")


def _timers(timer: Timer, here: str) -> Causes:
    for name, policies in POLICIES.items():
        spec = getattr(timer, name)
        if spec is not None and spec.tick_policy and spec.tick_policy not in policies:
            at = f"{here}.{name}.tickPolicy"
            yield invalid(
                at,
                f"{at} '{plain(spec.tick_policy)}' is not known; use one of {', '.join(policies)}",
            )
    if timer.rtc and timer.rtc.track and timer.rtc.track not in TRACKS:
        at = f"{here}.rtc.track"
        yield invalid(
            at, f"{at} '{plain(timer.rtc.track)}' is not known; use one of {', '.join(TRACKS)}"
        )
