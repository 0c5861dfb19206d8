"""What will hardly do what its author wants, though nothing is wrong with it. `warned.py` tells it."""

from collections.abc import Iterator
from typing import Final

import yaml

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.api.volumes import Volume

BOOTABLE: Final = (
    "container_disk",
    "data_volume",
    "ephemeral",
    "host_disk",
    "persistent_volume_claim",
)
CLOUD_CONFIG: Final = "#cloud-config"


def concerns(spec: VirtualMachineInstanceSpec, field: str) -> tuple[str, ...]:
    return (*_of_booting(spec, field), *_of_user_data(spec, field))


def _of_booting(spec: VirtualMachineInstanceSpec, field: str) -> Iterator[str]:
    firmware, devices = spec.domain.firmware, spec.domain.devices
    if any(getattr(each, kind) is not None for each in spec.volumes for kind in BOOTABLE):
        return
    if firmware is not None and firmware.kernel_boot is not None:
        return
    if any(each.boot_order is not None for each in devices.interfaces):
        return
    yield (
        f"{field} has nothing to boot from; add a volume with a system on it, such as a "
        f"containerDisk, a kernelBoot, or a bootOrder to an interface"
    )


def _of_user_data(spec: VirtualMachineInstanceSpec, field: str) -> Iterator[str]:
    for index, volume in enumerate(spec.volumes):
        text = _user_data(volume)
        if text.startswith(CLOUD_CONFIG) and (why := _trouble(text)):
            yield f"{field}.volumes[{index}]: userData is no YAML, and cloud-init will ignore it: {why}"


def _user_data(volume: Volume) -> str:
    source = volume.cloud_init_no_cloud or volume.cloud_init_config_drive
    return (source.user_data or "") if source is not None else ""


def _trouble(text: str) -> str:
    """Only read as a stream: nothing is built from it, however deep or full of aliases it is."""
    try:
        for _ in yaml.parse(text, Loader=yaml.SafeLoader):
            pass
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        return f"{error.problem}{line}"
    except yaml.YAMLError:
        return "it has characters that YAML does not"
    return ""
