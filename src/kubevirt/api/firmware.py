"""What runs before the guest system: BIOS, EFI, a kernel handed in, ACPI tables."""

from typing import Annotated

from kubevirt.api.struct import Struct, enum


class ACPI(Struct, frozen=True, kw_only=True):
    """…"""

    msdm_name_ref: str | None = None
    slic_name_ref: str | None = None


class BIOS(Struct, frozen=True, kw_only=True):
    """…"""

    use_serial: bool | None = None


class EFI(Struct, frozen=True, kw_only=True):
    """…"""

    persistent: bool | None = None
    secure_boot: bool | None = None


class Bootloader(Struct, frozen=True, kw_only=True):
    """…"""

    bios: BIOS | None = None
    efi: EFI | None = None


class KernelBootContainer(Struct, frozen=True, kw_only=True):
    """…"""

    image: str
    image_pull_policy: Annotated[str | None, enum("Always", "IfNotPresent", "Never")] = None
    image_pull_secret: str | None = None
    initrd_path: str | None = None
    kernel_path: str | None = None


class KernelBoot(Struct, frozen=True, kw_only=True):
    """…"""

    container: KernelBootContainer | None = None
    kernel_args: str | None = None


class Firmware(Struct, frozen=True, kw_only=True):
    """…"""

    acpi: ACPI | None = None
    bootloader: Bootloader | None = None
    kernel_boot: KernelBoot | None = None
    serial: str | None = None
    uuid: str | None = None


class Chassis(Struct, frozen=True, kw_only=True):
    """…"""

    asset: str | None = None
    manufacturer: str | None = None
    serial: str | None = None
    sku: str | None = None
    version: str | None = None
