"""The spec of an instance, part by part. `field` is where it stands: `spec`, or `spec.template.spec`."""

from collections.abc import Callable
from typing import Final

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.validate.boot_order import boot_order_causes
from kubevirt.virt.validate.causes import Causes
from kubevirt.virt.validate.clock import clock_causes
from kubevirt.virt.validate.cpu import cpu_causes
from kubevirt.virt.validate.credentials import credential_causes
from kubevirt.virt.validate.devices import device_causes
from kubevirt.virt.validate.disks import disk_causes
from kubevirt.virt.validate.features import feature_causes
from kubevirt.virt.validate.firmware import firmware_causes
from kubevirt.virt.validate.identity import identity_causes
from kubevirt.virt.validate.interfaces import interface_causes
from kubevirt.virt.validate.lengths import length_causes
from kubevirt.virt.validate.machine_type import machine_type_causes
from kubevirt.virt.validate.memory import memory_causes
from kubevirt.virt.validate.missing import missing_causes
from kubevirt.virt.validate.networks import network_causes
from kubevirt.virt.validate.placement import placement_causes
from kubevirt.virt.validate.probes import probe_causes
from kubevirt.virt.validate.resources import resource_causes
from kubevirt.virt.validate.rules import Rules
from kubevirt.virt.validate.volumes import volume_causes

Part = Callable[[VirtualMachineInstanceSpec, str, Rules], Causes]

PARTS: Final[tuple[Part, ...]] = (
    machine_type_causes,
    resource_causes,
    memory_causes,
    cpu_causes,
    disk_causes,
    volume_causes,
    boot_order_causes,
    network_causes,
    interface_causes,
    device_causes,
    firmware_causes,
    feature_causes,
    clock_causes,
    probe_causes,
    identity_causes,
    placement_causes,
    credential_causes,
    missing_causes,
)


def spec_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    too_long = tuple(length_causes(spec, field))
    if too_long:
        yield from too_long
        return
    for part in PARTS:
        yield from part(spec, field, rules)
