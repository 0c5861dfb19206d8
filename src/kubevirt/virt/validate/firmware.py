"""What runs before the guest's system."""

import re
from typing import Final

from kubevirt.api.firmware import ACPI, Firmware, KernelBoot
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.validate.causes import Causes, invalid, plain, required
from kubevirt.virt.validate.rules import Rules

ARGS_LIMIT: Final = 4096
SERIAL_LIMIT: Final = 256
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{32}")
_SERIAL: Final = re.compile(r"[A-Za-z0-9_.+-]*")


def firmware_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    del rules
    firmware = spec.domain.firmware
    if firmware is None:
        return
    here = f"{field}.domain.firmware"
    yield from _identity(firmware, here)
    yield from _bootloader(spec, firmware, here)
    if firmware.kernel_boot:
        yield from _kernel_boot(firmware.kernel_boot, f"{here}.kernelBoot")
    if firmware.acpi:
        yield from _acpi(spec, firmware.acpi, f"{here}.acpi")


def _identity(firmware: Firmware, here: str) -> Causes:
    if firmware.uuid and not _UUID.fullmatch(firmware.uuid):
        yield invalid(f"{here}.uuid", f"{here}.uuid '{plain(firmware.uuid)}' is no UUID")
    serial = firmware.serial or ""
    if len(serial) > SERIAL_LIMIT:
        yield invalid(
            f"{here}.serial",
            f"{here}.serial must be less than or equal to {SERIAL_LIMIT} in length, if specified",
        )
    if not _SERIAL.fullmatch(serial):
        yield invalid(
            f"{here}.serial",
            f"{here}.serial must be made up of the following characters [A-Za-z0-9_.+-], if "
            f"specified",
        )


def _bootloader(spec: VirtualMachineInstanceSpec, firmware: Firmware, here: str) -> Causes:
    loader = firmware.bootloader
    if loader is None or loader.efi is None:
        return
    if loader.bios is not None:
        yield invalid(
            f"{here}.bootloader.efi",
            f"{here}.bootloader.efi has both EFI and BIOS configured, but they are mutually "
            f"exclusive.",
        )
    smm = spec.domain.features.smm if spec.domain.features else None
    # Where nothing is said of SMM, the defaults switch it on together with secure boot.
    is_off = smm is not None and smm.enabled is False
    if loader.efi.secure_boot is not False and is_off and not spec.domain.launch_security:
        yield invalid(
            f"{here}.bootloader.efi",
            f"{here}.bootloader.efi has EFI SecureBoot enabled. SecureBoot requires SMM, which is "
            f"currently disabled.",
        )


def _kernel_boot(boot: KernelBoot, here: str) -> Causes:
    container, args = boot.container, boot.kernel_args
    if len(args or "") > ARGS_LIMIT:
        yield invalid(f"{here}.kernelArgs", f"{here}.kernelArgs exceeds {ARGS_LIMIT} characters")
    if args and any(not each.isprintable() for each in args):
        yield invalid(
            f"{here}.kernelArgs", f"{here}.kernelArgs holds characters that are not shown"
        )
    if container is None:
        if args:
            yield required(here, "kernel arguments cannot be provided without an external kernel")
        return
    at = f"{here}.container"
    if not container.image:
        yield required(f"{at}.image", f"{at}.image must be defined with an image")
    if not container.kernel_path and not container.initrd_path:
        yield required(at, f"{at} must be defined with at least one of kernelPath and initrdPath")
    if args and not container.kernel_path:
        yield required(here, "kernel arguments cannot be provided without an external kernel")
    for name, path in (
        ("kernelPath", container.kernel_path),
        ("initrdPath", container.initrd_path),
    ):
        if path and (not path.startswith("/") or ".." in path.split("/") or not path.isprintable()):
            yield invalid(f"{at}.{name}", f"{at}.{name} must be an absolute path without '..'")


def _acpi(spec: VirtualMachineInstanceSpec, acpi: ACPI, here: str) -> Causes:
    if not acpi.slic_name_ref and not acpi.msdm_name_ref:
        yield required(here, "No ACPI tables were set. Expecting at least one.")
    volumes = {volume.name: volume for volume in spec.volumes}
    for name, reference in (
        ("slicNameRef", acpi.slic_name_ref),
        ("msdmNameRef", acpi.msdm_name_ref),
    ):
        if not reference:
            continue
        volume = volumes.get(reference)
        if volume is None:
            yield invalid(
                f"{here}.{name}",
                f"{here} does not have a matching Volume: {plain(reference)} was not found",
            )
        elif volume.secret is None:
            yield invalid(
                f"{here}.{name}", f"{here} Volume of unsupported type; use a Secret for {name}"
            )
