"""Whatever is written: judged without an accident, alike each time, and alike after its defaults."""

import contextlib
import time
from datetime import UTC, datetime
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.virt.domain_cases import SMALL_GUEST, facts_for, merged
from tests.unit.virt.validate.any_spec import furnished, objects
from tests.unit.virt.validate.judged import SMALL_MACHINE, USER

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.devices import Devices
from kubevirt.api.domain import DomainSpec
from kubevirt.api.instance import VirtualMachineInstance, VirtualMachineInstanceSpec
from kubevirt.api.machine import VirtualMachine, VirtualMachineSpec
from kubevirt.apiserver.patch import json_patch
from kubevirt.virt.convert.conversion import convert
from kubevirt.virt.defaults.admitted import machine_patch, new_instance_patch
from kubevirt.virt.defaults.identity import NONE
from kubevirt.virt.errors import UnsupportedError
from kubevirt.virt.pod.config import PodConfig
from kubevirt.virt.pod.rendering import render
from kubevirt.virt.validate import instance, machine
from kubevirt.virt.validate.causes import COUNTED, Reason, message_of
from kubevirt.virt.validate.rules import Rules

NOW = datetime(2026, 11, 16, tzinfo=UTC)
RULES = Rules()
SECONDS_FOR_THE_WORST = 2.0

unhurried = settings(deadline=None, suppress_health_check=list(HealthCheck))


def guest(spec: dict[str, Any]) -> dict[str, Any]:
    return merged(SMALL_GUEST, {"spec": spec})


SPECS = st.one_of(
    objects(VirtualMachineInstanceSpec),
    objects(DomainSpec).map(lambda domain: {"domain": domain}),
    objects(Devices).map(lambda devices: {"domain": {"devices": devices}}),
    furnished(),
).map(guest)
MACHINES = objects(VirtualMachineSpec).map(lambda spec: merged(SMALL_MACHINE, {"spec": spec}))


def read(raw: dict[str, Any]) -> VirtualMachineInstance:
    return msgspec.convert(raw, VirtualMachineInstance)


def stored(raw: dict[str, Any]) -> dict[str, Any]:
    patch = new_instance_patch(raw, KubeVirtConfiguration(), NOW, NONE)
    operations = json_patch.parse(msgspec.json.decode(msgspec.json.encode(patch)))
    result: dict[str, Any] = json_patch.apply(raw, operations)
    return result


@unhurried
@given(SPECS)
def test_an_instance_is_judged_without_accident_and_alike_each_time(raw: dict[str, Any]) -> None:
    causes = instance.created(read(raw), USER, RULES)
    assert causes == instance.created(read(raw), USER, RULES)
    assert all(cause.message.isprintable() for cause in causes)
    assert all(cause.type in Reason for cause in causes)
    assert all(cause.field.startswith(("spec", "metadata")) for cause in causes)


@unhurried
@given(MACHINES)
def test_a_machine_is_judged_without_accident_and_alike_each_time(raw: dict[str, Any]) -> None:
    vm = msgspec.convert(raw, VirtualMachine)
    assert machine.created(vm, RULES) == machine.created(vm, RULES)
    machine_patch(raw, KubeVirtConfiguration(), NONE)


@unhurried
@given(SPECS)
def test_defaults_are_filled_in_once(raw: dict[str, Any]) -> None:
    once = stored(raw)
    assert stored(once) == once


@unhurried
@given(SPECS)
def test_the_verdict_does_not_change_by_the_defaults(raw: dict[str, Any]) -> None:
    before, after = (instance.created(read(each), USER, RULES) for each in (raw, stored(raw)))
    assert bool(before) == bool(after)


@unhurried
@given(SPECS)
def test_what_is_accepted_can_become_a_guest_and_its_pod(raw: dict[str, Any]) -> None:
    if instance.created(read(raw), USER, RULES):
        return
    vmi = read(stored(raw))
    if any(disk.lun is not None for disk in vmi.spec.domain.devices.disks):
        return  # Whether its claim is a block device, only the claim can tell.
    # What this one node lacks is no mistake of the spec's author: another node may have it.
    with contextlib.suppress(UnsupportedError):
        convert(vmi, facts_for(vmi, {}))
    render(vmi, PodConfig(launcher_image="launcher:v1", emulation=True))


def test_the_worst_spec_costs_little() -> None:
    word = "x" * 1000
    disks = [{"name": word, "serial": word, "disk": {"bus": word}} for _ in range(256)]
    ports = [{"name": word, "port": -1, "protocol": word} for _ in range(5000)]
    cards = [{"name": word, "ports": ports} for _ in range(20)]
    spec = {"domain": {"devices": {"disks": disks, "interfaces": cards}}, "volumes": disks}
    vmi = read(guest(spec))
    began = time.process_time()
    causes = instance.created(vmi, USER, RULES)
    assert time.process_time() - began < SECONDS_FOR_THE_WORST
    assert len(causes) == COUNTED


def test_a_denial_shows_ten_reasons_and_counts_the_rest() -> None:
    disks = [{"name": "a", "disk": {"bus": "ide"}} for _ in range(12)]
    causes = instance.created(read(guest({"domain": {"devices": {"disks": disks}}})), USER, RULES)
    assert len(causes) > 10
    text = message_of(causes)
    assert text.endswith(f", and {len(causes) - 10} more validation errors")
    assert text.startswith(causes[0].message)
    assert message_of(causes[:2]) == f"{causes[0].message}, {causes[1].message}"
