"""The life of a machine: what to do next, and how it is, from what is seen of it and the time.

    plan = decide(vm, seen, clock.now())

A pure function that remembers nothing. A plan is carried out in its order: the status first, if it
differs, since it may hold what must not be forgotten; then the actions, one after the other; after one
that fails, none. What an action changes shows in `seen` before the machine is looked at again.

Writes are few on purpose. While an instance is about to be created there is more to say in a moment, and
of a machine that is about to be gone nothing at all, so nothing is said; and a state that passes within a second is not written.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine, VirtualMachineStatus
from kubevirt.virt import troubles
from kubevirt.virt.conditions import PAUSED, READY, found, is_true
from kubevirt.virt.errors import SpecError
from kubevirt.virt.happening import Failure, Happening
from kubevirt.virt.instance import phases
from kubevirt.virt.instance.names import MACHINE_FINALIZER
from kubevirt.virt.machine import backoff, conditions, noting, requests, revision, status
from kubevirt.virt.machine import strategy as strategies
from kubevirt.virt.machine.actions import (
    Action,
    AddFinalizer,
    Adopt,
    CreateInstance,
    CreateRevision,
    DeleteInstance,
    DeleteRevision,
    RemoveFinalizer,
    SetAlways,
)
from kubevirt.virt.machine.seen import MachineSeen
from kubevirt.virt.machine.strategy import Wish
from kubevirt.virt.machine.template import instance_of
from kubevirt.virt.ownership import controller_of, is_owned_by
from kubevirt.virt.spans import end_of

SETTLING: Final = timedelta(seconds=2)
"""For at least a second: the times that it is counted from have lost their fractions."""
ORPHANING: Final = "orphan"
"""Finalizer of a deletion that leaves dependents behind."""
UNREADABLE: Final = "InvalidSpec"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    status: VirtualMachineStatus
    actions: tuple[Action, ...] = ()
    look_again: datetime | None = None
    """When time alone changes something; None if only an event can."""
    happenings: tuple[Happening, ...] = ()
    """What users are told of the change of status."""


def decide(vm: VirtualMachine, seen: MachineSeen, now: datetime) -> Plan:
    try:
        return _decide(vm, seen, now)
    except SpecError as refusal:
        if vm.metadata.deletion_timestamp is not None:  # must go, however it is written
            return Plan(status=vm.status, actions=tuple(_ending(vm, _own(vm, seen))))
        failure = Failure(refusal.reason, str(refusal))
        return Plan(status=status.of_refused(vm, failure, now))


def _decide(vm: VirtualMachine, seen: MachineSeen, now: datetime) -> Plan:
    strategy, vmi = strategies.of(vm), _own(vm, seen)
    if vmi is None and seen.instance is not None and vm.metadata.deletion_timestamp is None:
        return _beside_a_stranger(vm, strategy, seen, now, seen.instance)
    actions = tuple(_actions(vm, strategy, vmi, seen, now))
    told = status.of(vm, strategy, vmi, seen, seen.failure, now)
    if seen.failure is None:
        if any(isinstance(each, CreateInstance | SetAlways | RemoveFinalizer) for each in actions):
            return Plan(status=vm.status, actions=actions)
        if settles_at := end_of(_unsettled_since(vm, vmi), SETTLING, now):
            return Plan(status=vm.status, actions=actions, look_again=settles_at)
    return Plan(
        status=told,
        actions=actions,
        look_again=backoff.until(told.start_failure, now),
        happenings=tuple(troubles.between(vm.status.conditions, told.conditions)),
    )


def _own(vm: VirtualMachine, seen: MachineSeen) -> VirtualMachineInstance | None:
    vmi = seen.instance
    return vmi if vmi is not None and is_owned_by(vmi, vm) else None


def _beside_a_stranger(
    vm: VirtualMachine,
    strategy: str,
    seen: MachineSeen,
    now: datetime,
    vmi: VirtualMachineInstance,
) -> Plan:
    """An instance of the machine's name that is not its own: adopted if it is nobody's."""
    owner = controller_of(vmi)
    if owner is None and not phases.is_ending(vmi):
        return Plan(status=vm.status, actions=(Adopt(vmi.metadata.uid),))
    whose = f"belongs to {owner.kind} {owner.name}" if owner else "is being deleted"
    text = f"the virtual machine instance {vmi.metadata.name} exists already and {whose}"
    failure = Failure("FailedCreate", text)
    return Plan(status=status.of(vm, strategy, None, seen, failure, now))


def _actions(
    vm: VirtualMachine,
    strategy: str,
    vmi: VirtualMachineInstance | None,
    seen: MachineSeen,
    now: datetime,
) -> Iterator[Action]:
    if vm.metadata.deletion_timestamp is not None:
        yield from _ending(vm, vmi)
        return
    if MACHINE_FINALIZER not in vm.metadata.finalizers:
        yield AddFinalizer()
    asked = noting.requests_after(vm, strategy, vmi)
    if strategy == strategies.HALTED and requests.is_start(asked):
        yield SetAlways(vm.spec.running is not None)
        return
    if vmi is not None and _begins_anew(vm, strategy, vmi, seen):
        yield DeleteInstance(vmi.metadata.name, vmi.metadata.uid)
        return
    match strategies.wish(strategy, vm, vmi, asked):
        case Wish.STOP if vmi is not None and not phases.is_ending(vmi):
            yield DeleteInstance(vmi.metadata.name, vmi.metadata.uid)
        case Wish.START if not backoff.until(vm.status.start_failure, now):
            yield from _starting(vm, seen, is_paused=requests.starts_paused(asked))
        case _:
            pass


def _begins_anew(
    vm: VirtualMachine, strategy: str, vmi: VirtualMachineInstance, seen: MachineSeen
) -> bool:
    """Whether it is stuck before its guest ever ran, and its machine was changed since: that is how
    most troubles are mended, and there is nothing to lose. Only where the strategy starts it again.
    """
    if strategy not in strategies.BACKING_OFF or phases.has_run(vmi):
        return False
    if phases.is_final(vmi) or phases.is_ending(vmi):
        return False
    return troubles.is_stuck(vmi.status.conditions) and conditions.is_outdated(vm, vmi, seen)


def _ending(vm: VirtualMachine, vmi: VirtualMachineInstance | None) -> Iterator[Action]:
    if vmi is not None and ORPHANING not in vm.metadata.finalizers:
        if not phases.is_ending(vmi):
            # It may have been left behind meanwhile, on purpose: what was looked at goes, and nothing newer.
            seen = vmi.metadata
            yield DeleteInstance(seen.name, seen.uid, seen.resource_version)
    elif MACHINE_FINALIZER in vm.metadata.finalizers:
        yield RemoveFinalizer()


def _starting(vm: VirtualMachine, seen: MachineSeen, *, is_paused: bool) -> Iterator[Action]:
    instance = instance_of(vm, is_paused=is_paused)
    name = revision.name(vm)
    for each in seen.revisions:
        if each.startswith(revision.prefix(vm)) and each != name:
            yield DeleteRevision(each)
    if name not in seen.revisions:
        yield CreateRevision(revision.of(vm))
    yield CreateInstance(instance)


def _unsettled_since(vm: VirtualMachine, vmi: VirtualMachineInstance | None) -> datetime | None:
    """Since when it is as it is, if that is likely to be over before a user could read of it."""
    if vmi is None:
        return None
    if vm.metadata.deletion_timestamp is not None:
        return vm.metadata.deletion_timestamp
    if vmi.status.phase == phases.PENDING and found(vmi.status.conditions, READY) is None:
        return vmi.metadata.creation_timestamp  # and its pod is about to be
    is_told = vm.status.printable_status == "Running"
    is_up = vmi.status.phase == phases.RUNNING and not phases.is_ending(vmi)
    if not is_up or is_told or vmi.spec.readiness_probe is not None:
        return None
    if is_true(vmi.status.conditions, READY) or is_true(vmi.status.conditions, PAUSED):
        return None
    return phases.entered(vmi, phases.RUNNING)
