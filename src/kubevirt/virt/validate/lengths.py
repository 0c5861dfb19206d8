"""Lists that may not be longer than a guest has use for; asked first, since all else walks them."""

from typing import Final

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.validate.causes import Causes, invalid

LIMIT: Final = 256


def length_causes(spec: VirtualMachineInstanceSpec, field: str) -> Causes:
    devices = spec.domain.devices
    lists: dict[str, tuple[object, ...]] = {
        "domain.devices.disks": devices.disks,
        "domain.devices.interfaces": devices.interfaces,
        "domain.devices.inputs": devices.inputs,
        "domain.devices.gpus": devices.gpus,
        "domain.devices.hostDevices": devices.host_devices,
        "domain.devices.filesystems": devices.filesystems,
        "domain.devices.panicDevices": devices.panic_devices,
        "domain.cpu.features": spec.domain.cpu.features if spec.domain.cpu else (),
        "networks": spec.networks,
        "volumes": spec.volumes,
        "utilityVolumes": spec.utility_volumes,
        "accessCredentials": spec.access_credentials,
        "tolerations": spec.tolerations,
        "topologySpreadConstraints": spec.topology_spread_constraints,
    }
    for name, entries in lists.items():
        if len(entries) > LIMIT:
            yield invalid(
                f"{field}.{name}",
                f"{field}.{name} list exceeds the {LIMIT} element limit in length",
            )
