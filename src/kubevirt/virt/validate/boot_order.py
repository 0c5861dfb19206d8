"""Boot order: one place for each disk and each network card."""

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.validate.causes import Causes, invalid
from kubevirt.virt.validate.rules import Rules


def boot_order_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    del rules
    devices = spec.domain.devices
    taken: set[int] = set()
    orders = {
        "disks": tuple(disk.boot_order for disk in devices.disks),
        "interfaces": tuple(interface.boot_order for interface in devices.interfaces),
    }
    for kind, entries in orders.items():
        for index, order in enumerate(entries):
            if order is None:
                continue
            here = f"{field}.domain.devices.{kind}[{index}].bootOrder"
            if order < 1:
                yield invalid(here, f"{here} must have a boot order > 0, if supplied")
            elif order in taken:
                yield invalid(here, f"Boot order for {here} already set for a different device.")
            taken.add(order)
