"""What virt-handler does for a guest, from what it sees of it. Pure.

    step = decide(vmi, seen)

A guest is started once, asked to end again and again, and ended when its grace period is over. Times are
spans that have passed, measured by a clock that does not jump.
"""

from enum import Enum, auto
from typing import Final

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import (
    VirtualMachineInstanceCondition,
    VirtualMachineInstanceStatus,
)
from kubevirt.virt.changes import between
from kubevirt.virt.conditions import AGENT_CONNECTED, found
from kubevirt.virt.instance import domain as domains
from kubevirt.virt.instance import phases
from kubevirt.virt.instance.domain import DomainSeen
from kubevirt.virt.instance.guest import DEFAULT_GRACE_S, UNSUPPORTED

REPEAT_S: Final = 5.0
"""Between two presses of the power button: a guest that boots misses the first. KubeVirt's interval."""
SETTLING_S: Final = 2.0
HALF_TOLD_S: Final = 15.0
GOING_S: Final = 60.0
UNHURRIED: Final = frozenset({"conditions", "guestOSInfo", "interfaces", "fsFreezeStatus"})
"""Fields that what an agent tells may change."""


class Action(Enum):
    NOTHING = auto()
    START = auto()
    ADJUST = auto()
    """What its manifest says has changed while it runs."""
    SHUT_DOWN = auto()
    KILL = auto()


class Tended(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a guest whose launcher answers."""

    domain: DomainSeen | None = None
    is_launcher_ending: bool = False
    """The launcher was told to end and wants its guest shut down."""
    is_changed: bool = False
    """The manifest is not the one that the guest was last brought in line with."""
    ending_s: float = 0.0
    """Since its end was first wanted."""
    asked_s: float | None = None
    """Since it was last asked to shut down; None if it never was."""


class Step(msgspec.Struct, frozen=True):
    action: Action
    look_again_s: float | None = None
    """When time alone changes something; None if only an event can."""


def decide(vmi: VirtualMachineInstance, seen: Tended) -> Step:
    domain = seen.domain
    if domain is None:
        may_start = vmi.status.phase == phases.SCHEDULED and not phases.is_ending(vmi)
        return Step(Action.START if may_start else Action.NOTHING)
    if domain.state not in domains.ALIVE:
        return Step(Action.NOTHING)
    if phases.is_final(vmi):  # it was given up: nothing of it may go on writing to its disks
        return Step(Action.KILL, REPEAT_S)
    if wants_end(vmi, seen):
        return _ending(vmi, seen)
    return Step(Action.ADJUST if seen.is_changed else Action.NOTHING)


def wants_end(vmi: VirtualMachineInstance, seen: Tended) -> bool:
    return phases.is_ending(vmi) or seen.is_launcher_ending


def _ending(vmi: VirtualMachineInstance, seen: Tended) -> Step:
    left_s = grace_s(vmi) - seen.ending_s
    if left_s <= 0:
        return Step(Action.KILL, REPEAT_S)
    if seen.asked_s is None or seen.asked_s >= REPEAT_S:
        return Step(Action.SHUT_DOWN, min(left_s, REPEAT_S))
    return Step(Action.NOTHING, min(left_s, REPEAT_S - seen.asked_s))


def grace_s(vmi: VirtualMachineInstance) -> int:
    wanted = vmi.spec.termination_grace_period_seconds
    return DEFAULT_GRACE_S if wanted is None else wanted


def settles_in_s(
    before: VirtualMachineInstanceStatus,
    after: VirtualMachineInstanceStatus,
    *,
    is_ending: bool = False,
) -> float:
    """How long to wait for more before a change is written; 0 if it is to be written at once.

    Only what an agent tells can wait. It comes in pieces, and an agent that has gone mostly says that its guest
    is about to go, too.
    """
    others = [_without_agent(each) for each in (before, after)]
    if others[0] != others[1] or any(
        each.field not in UNHURRIED for each in between(before, after)
    ):
        return 0.0
    if is_ending:
        return GOING_S
    had, has = (found(each.conditions, AGENT_CONNECTED) is not None for each in (before, after))
    is_half_told = (had and not has) or (has and not after.guest_os_info.name)
    return HALF_TOLD_S if is_half_told else SETTLING_S


def _without_agent(status: VirtualMachineInstanceStatus) -> list[VirtualMachineInstanceCondition]:
    return [each for each in status.conditions if each.type not in (AGENT_CONNECTED, UNSUPPORTED)]
