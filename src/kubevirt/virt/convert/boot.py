"""What runs before the guest system: machine, firmware, a kernel handed in, licence tables."""

import re
from typing import Final

from kubevirt.api.firmware import ACPI, EFI, Bootloader, Firmware
from kubevirt.virt.convert.facts import EfiImages
from kubevirt.virt.convert.guest import Guest, is_on
from kubevirt.virt.domain.boot import (
    AcpiTable,
    AcpiTables,
    Bios,
    Boot,
    BootMenu,
    Loader,
    MachineType,
    Nvram,
    Smbios,
)
from kubevirt.virt.errors import SpecError, UnsupportedError, shown
from kubevirt.virt.volumes.kernel_boot import kernel_files

PAUSED_BOOT_MENU_MS: Final = 10_000
"""A guest that starts paused gets a boot menu, with time to reach it after unpausing."""
_MACHINE: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def boot(guest: Guest) -> Boot:
    firmware = guest.domain.firmware or Firmware()
    loader = firmware.bootloader or Bootloader()
    if loader.efi is not None and loader.bios is not None:
        raise SpecError(
            "firmware.bootloader has both EFI and BIOS configured, but they are mutually exclusive."
        )
    usual = kernel_files(firmware.kernel_boot, guest.facts.layout)
    kernel = guest.facts.kernel or usual
    starts_paused = guest.vmi.spec.start_strategy == "Paused"
    return Boot(
        type=MachineType(arch=guest.architecture.qemu, machine=_machine(guest)),
        loader=_loader(guest, loader.efi) if loader.efi is not None else None,
        nvram=_nvram(guest, loader.efi) if loader.efi is not None else None,
        kernel=kernel.kernel,
        initrd=kernel.initrd,
        cmdline=firmware.kernel_boot.kernel_args if firmware.kernel_boot else None,
        acpi=_tables(guest, firmware.acpi) if firmware.acpi else None,
        bootmenu=BootMenu(enable=True, timeout=PAUSED_BOOT_MENU_MS) if starts_paused else None,
        smbios=Smbios(mode="sysinfo") if guest.architecture.smbios else None,
        bios=Bios(use_serial=True) if loader.bios and loader.bios.use_serial else None,
    )


def _machine(guest: Guest) -> str:
    machine = guest.domain.machine
    kind = (machine.type if machine else None) or guest.architecture.machine_type
    offered = guest.facts.host.machine_types
    if not _MACHINE.fullmatch(kind) or (offered and kind not in offered):
        raise UnsupportedError(
            f"machine type {shown(kind)} is not supported by this node's QEMU; "
            f"use {guest.architecture.machine_type} or one that the node lists"
        )
    return kind


def _loader(guest: Guest, efi: EFI) -> Loader:
    images = _images(guest, efi)
    is_secure = _is_secure(guest, efi)
    if is_secure and not _has_smm(guest):
        raise SpecError(
            "firmware.bootloader.efi has EFI SecureBoot enabled. SecureBoot requires SMM, which is "
            "currently disabled."
        )
    # Firmware for SNP and TDX is measured as a whole, so it keeps nothing.
    kind = "pflash" if images.vars else "rom"
    return Loader(readonly=True, secure=is_secure, type=kind, path=images.code)


def _nvram(guest: Guest, efi: EFI) -> Nvram | None:
    images = _images(guest, efi)
    if images.vars is None:
        return None
    return Nvram(template=images.vars, path=guest.facts.layout.nvram(guest.vmi.metadata.name))


def _is_secure(guest: Guest, efi: EFI) -> bool:
    """On unless switched off, on platforms that have it and outside of encrypted guests."""
    if guest.launch_security is not None or guest.architecture.name != "amd64":
        return False
    return is_on(efi.secure_boot)


def _has_smm(guest: Guest) -> bool:
    smm = guest.domain.features.smm if guest.domain.features else None
    return smm is not None and is_on(smm.enabled)


def _images(guest: Guest, efi: EFI) -> EfiImages:
    offered, security = guest.facts.firmware, guest.launch_security
    if security and security.snp is not None:
        images, kind = offered.snp, "for SEV-SNP"
    elif security and security.sev is not None:
        images, kind = offered.sev, "for SEV"
    elif security and security.tdx is not None:
        images, kind = offered.tdx, "for TDX"
    elif _is_secure(guest, efi):
        images, kind = offered.secure, "with SecureBoot"
    else:
        images, kind = offered.plain, "without SecureBoot"
    if images is None:
        raise UnsupportedError(
            f"this node has no EFI firmware {kind}; install it in the launcher's image, or boot by "
            f"BIOS or with another setting of firmware.bootloader.efi",
            reason="NoFirmware",
        )
    return images


def _tables(guest: Guest, acpi: ACPI) -> AcpiTables:
    wanted = {"slic": acpi.slic_name_ref, "msdm": acpi.msdm_name_ref}
    if not any(wanted.values()):
        raise SpecError("No ACPI tables were set. Expecting at least one.")
    volumes = {volume.name: volume for volume in guest.vmi.spec.volumes}
    tables = []
    for kind, name in wanted.items():
        if not name:
            continue
        if name not in volumes:
            raise SpecError(f"Firmware's volume for {kind} was not found; add {shown(name)}")
        if volumes[name].secret is None:
            raise SpecError(f"Firmware's volume type is unsupported for {kind}; use a Secret")
        path = f"{guest.facts.layout.secret(name)}/{kind}.bin"
        tables.append(AcpiTable(type=kind, path=path))
    return AcpiTables(tables=tuple(tables))
