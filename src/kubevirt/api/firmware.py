"""What runs before the guest system: BIOS, EFI, a kernel handed in, ACPI tables."""

from kubevirt.api.struct import Struct


class ACPI(Struct, frozen=True, kw_only=True):
    """Licence tables that Windows looks for in ACPI."""

    msdm_name_ref: str | None = None
    """Secret volume with the MSDM table, which newer Windows versions read."""
    slic_name_ref: str | None = None
    """Secret volume with the SLIC table, which older Windows versions read."""


class BIOS(Struct, frozen=True, kw_only=True):
    """Boots by SeaBIOS."""

    use_serial: bool | None = None
    """Shows the BIOS messages on the serial console."""


class EFI(Struct, frozen=True, kw_only=True):
    """Boots by UEFI firmware (OVMF)."""

    persistent: bool | None = None
    """Keeps the EFI variables in a state PVC over restarts; false by default."""
    secure_boot: bool | None = None
    """Loads only signed boot code; true by default, and needs features.smm."""


class Bootloader(Struct, frozen=True, kw_only=True):
    """Choice of the firmware; at most one."""

    bios: BIOS | None = None
    """Legacy BIOS, the default on amd64."""
    efi: EFI | None = None
    """UEFI, the only choice on arm64."""


class KernelBootContainer(Struct, frozen=True, kw_only=True):
    """Container image that holds a kernel, an initial ramdisk or both."""

    image: str
    """Image reference."""
    image_pull_policy: str | None = None
    """When to pull the image; Always for the tag latest or none, otherwise IfNotPresent."""
    image_pull_secret: str | None = None
    """Secret in this namespace that lets the node pull from a private registry."""
    initrd_path: str | None = None
    """Absolute path of the initial ramdisk in the image."""
    kernel_path: str | None = None
    """Absolute path of the kernel in the image."""


class KernelBoot(Struct, frozen=True, kw_only=True):
    """Starts a given kernel directly, past the boot loader on the disk."""

    container: KernelBootContainer | None = None
    """Where kernel and initial ramdisk come from."""
    kernel_args: str | None = None
    """Kernel command line; only with a kernel."""


class Firmware(Struct, frozen=True, kw_only=True):
    """What the guest finds before its system starts, and its SMBIOS identity."""

    acpi: ACPI | None = None
    """Extra ACPI tables."""
    bootloader: Bootloader | None = None
    """BIOS or EFI."""
    kernel_boot: KernelBoot | None = None
    """Direct boot of a kernel."""
    serial: str | None = None
    """Serial number of the machine in SMBIOS."""
    uuid: str | None = None
    """Machine UUID in SMBIOS; random if not set."""


class Chassis(Struct, frozen=True, kw_only=True):
    """Enclosure data in SMBIOS, which inventory tools read."""

    asset: str | None = None
    """Asset tag."""
    manufacturer: str | None = None
    """Maker of the chassis."""
    serial: str | None = None
    """Serial number of the chassis."""
    sku: str | None = None
    """Stock-keeping number."""
    version: str | None = None
    """Version of the chassis."""
