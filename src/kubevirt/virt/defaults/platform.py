"""Architecture, machine type, firmware identity, EFI."""

from msgspec.structs import replace

from kubevirt.api.domain import Machine
from kubevirt.api.firmware import EFI, Bootloader, Firmware
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.architecture import Architecture
from kubevirt.virt.defaults.settings import Settings

Spec = VirtualMachineInstanceSpec


def with_machine(spec: Spec, settings: Settings, architecture: Architecture) -> Spec:
    machine = spec.domain.machine or Machine()
    kind = machine.type or settings.machine_type(architecture)
    domain = replace(spec.domain, machine=replace(machine, type=kind))
    return replace(spec, architecture=architecture.name, domain=domain)


def with_firmware(spec: Spec, uuid: str, architecture: Architecture) -> Spec:
    """A machine without UUID would be another one after each restart."""
    firmware = spec.domain.firmware or Firmware()
    loader = firmware.bootloader
    if architecture.name == "arm64":
        # There is no other firmware, and none of it has keys enrolled.
        loader = loader or Bootloader(efi=EFI())
        if loader.efi is not None and loader.efi.secure_boot is None:
            loader = replace(loader, efi=replace(loader.efi, secure_boot=False))
    firmware = replace(firmware, uuid=firmware.uuid or uuid, bootloader=loader)
    return replace(spec, domain=replace(spec.domain, firmware=firmware))


def wants_secure_boot(spec: Spec) -> bool:
    """On with EFI unless switched off; an encrypted guest is measured instead."""
    firmware = spec.domain.firmware
    efi = firmware.bootloader.efi if firmware and firmware.bootloader else None
    is_encrypted = spec.domain.launch_security is not None
    return efi is not None and efi.secure_boot is not False and not is_encrypted
