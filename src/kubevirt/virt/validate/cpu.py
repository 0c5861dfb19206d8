"""Processors: their number, model, features, and whether they have CPUs to themselves."""

import re
from typing import Final

from kubevirt.api.cpu import CPU
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.convert.cpu import POLICIES
from kubevirt.virt.topology import VCPU_LIMIT
from kubevirt.virt.validate.amounts import amount
from kubevirt.virt.validate.causes import Causes, invalid, plain
from kubevirt.virt.validate.rules import Rules

_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
"""Models and features become labels of nodes and words of a domain."""
_MASK: Final = re.compile(r"\^?[0-9]{1,4}(-[0-9]{1,4})?(,\^?[0-9]{1,4}(-[0-9]{1,4})?)*")


def cpu_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    del rules
    cpu = spec.domain.cpu or CPU()
    here = f"{field}.domain.cpu"
    yield from _topology(spec, cpu, here)
    if cpu.model and not _WORD.fullmatch(cpu.model):
        yield invalid(
            f"{here}.model", f"{here}.model '{plain(cpu.model)}' is no name of a CPU model"
        )
    for index, feature in enumerate(cpu.features):
        at = f"{here}.features[{index}]"
        if not _WORD.fullmatch(feature.name):
            yield invalid(f"{at}.name", f"{at}.name '{plain(feature.name)}' is no CPU feature")
        if feature.policy and feature.policy not in POLICIES:
            yield invalid(
                f"{at}.policy",
                f"CPU feature {plain(feature.name)} uses policy {plain(feature.policy)} that is not "
                f"supported.",
            )
    yield from _placement(spec, cpu, field)


def _topology(spec: VirtualMachineInstanceSpec, cpu: CPU, here: str) -> Causes:
    parts = {"sockets": cpu.sockets, "cores": cpu.cores, "threads": cpu.threads}
    for name, number in parts.items():
        if number is not None and number < 0:
            yield invalid(f"{here}.{name}", f"{here}.{name} must be 1 or more")
    count = 1
    for number in parts.values():
        count *= max(number or 1, 1)
    if not any(parts.values()):
        resources = spec.domain.resources
        wanted = amount(resources.limits.get("cpu")) or amount(resources.requests.get("cpu"))
        count = wanted.value() if wanted else 1
    if count > VCPU_LIMIT:
        yield invalid(
            here, f"{here} asks for more vCPUs than the {VCPU_LIMIT} that QEMU can give a guest"
        )
    most = cpu.max_sockets
    if most is not None and most < 0:
        yield invalid(f"{here}.maxSockets", f"{here}.maxSockets must be 1 or more")
    elif most and most < (cpu.sockets or 1):
        yield invalid(
            f"{here}.sockets",
            "Number of sockets in CPU topology is greater than the maximum sockets allowed",
        )
    elif most and most * max(cpu.cores or 1, 1) * max(cpu.threads or 1, 1) > VCPU_LIMIT:
        yield invalid(
            f"{here}.maxSockets",
            f"{here}.maxSockets leaves room for more vCPUs than the {VCPU_LIMIT} that QEMU can give",
        )


def _placement(spec: VirtualMachineInstanceSpec, cpu: CPU, field: str) -> Causes:
    here, resources_at = f"{field}.domain.cpu", f"{field}.domain.resources"
    if cpu.isolate_emulator_thread and not cpu.dedicated_cpu_placement:
        yield invalid(
            f"{here}.isolateEmulatorThread",
            "IsolateEmulatorThread should be only set in combination with DedicatedCPUPlacement",
        )
    if cpu.numa and cpu.numa.guest_mapping_passthrough is not None:
        yield from _numa(spec, cpu, f"{here}.numa.guestMappingPassthrough")
    if cpu.realtime is not None:
        yield from _realtime(cpu, here)
    if not cpu.dedicated_cpu_placement:
        return
    resources = spec.domain.resources
    request, limit = amount(resources.requests.get("cpu")), amount(resources.limits.get("cpu"))
    at = f"{here}.dedicatedCpuPlacement"
    for name, number in (("requests", request), ("limits", limit)):
        if number is not None and number.milli_value() % 1000:
            yield invalid(
                f"{resources_at}.{name}.cpu",
                f"provided resources CPU {name} must be an interger",
            )
    if not request and not limit and not (cpu.sockets or cpu.cores or cpu.threads):
        yield invalid(
            at,
            f"either {resources_at}.requests.cpu or {resources_at}.limits.cpu or {here}.cores must "
            f"be provided when DedicatedCPUPlacement is true ",
        )
    if request and limit and request != limit:
        yield invalid(
            at,
            f"{resources_at}.requests.cpu or {resources_at}.limits.cpu must be equal when "
            f"DedicatedCPUPlacement is true ",
        )


def _numa(spec: VirtualMachineInstanceSpec, cpu: CPU, at: str) -> Causes:
    if not cpu.dedicated_cpu_placement:
        yield invalid(
            at,
            f"{at} must be used together with dedicatedCpuPlacement, since it mirrors where the CPUs "
            f"of the guest are",
        )
    if spec.domain.memory is None or spec.domain.memory.hugepages is None:
        yield invalid(
            at, "passing through a numa topology is restricted to VMIs with hugepages enabled"
        )


def _realtime(cpu: CPU, here: str) -> Causes:
    at = f"{here}.realtime"
    if not cpu.dedicated_cpu_placement:
        yield invalid(f"{here}.dedicatedCpuPlacement", f"{at} needs dedicatedCpuPlacement")
    if cpu.numa is None or cpu.numa.guest_mapping_passthrough is None:
        yield invalid(f"{here}.numa.guestMappingPassthrough", f"{at} needs NUMA passthrough")
    mask = cpu.realtime.mask if cpu.realtime else None
    if mask and not _MASK.fullmatch(mask):
        yield invalid(f"{at}.mask", f"{at}.mask '{plain(mask)}' is no set of CPUs like 0-3,^1")
