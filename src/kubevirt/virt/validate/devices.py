"""All other devices: pointers, sound, screen, watchdog, panic, downward metrics, vsock."""

import re
from typing import Final

from kubevirt.api.devices import Devices, Watchdog
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.architecture import ARCHITECTURES
from kubevirt.virt.convert.graphics import TYPES as VIDEO
from kubevirt.virt.convert.panics import MODELS as PANIC
from kubevirt.virt.convert.watchdog import ACTIONS
from kubevirt.virt.validate.causes import Causes, invalid, not_supported, plain, required
from kubevirt.virt.validate.rules import Rules

SOUND: Final = ("ich9", "ac97")
_ALIAS: Final = re.compile(r"[A-Za-z0-9_-]{1,250}")


def device_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    devices, here = spec.domain.devices, f"{field}.domain.devices"
    yield from _inputs(devices, f"{here}.inputs")
    yield from _output(devices, here)
    if devices.watchdog:
        name = spec.architecture or rules.settings.architecture
        architecture = ARCHITECTURES.get(name)
        model = architecture.watchdog_model if architecture else None
        yield from _watchdog(devices.watchdog, f"{here}.watchdog", model, name)
    for index, panic in enumerate(devices.panic_devices):
        if panic.model is not None and panic.model not in PANIC:
            at = f"{here}.panicDevices[{index}].model"
            yield invalid(at, f"{at} '{plain(panic.model)}' is not known; use {', '.join(PANIC)}")
    if devices.downward_metrics is not None and not rules.gate("DownwardMetrics"):
        yield invalid(
            f"{here}.downwardMetrics",
            "downwardMetrics virtio serial is not allowed: DownwardMetrics feature gate is not "
            "enabled",
        )
    if devices.autoattach_vsock and not rules.gate("VSOCK"):
        yield invalid(
            f"{here}.autoattachVSOCK", "VSOCK feature gate is not enabled in kubevirt-config"
        )
    if devices.host_devices and not rules.gate("HostDevices"):
        yield invalid(
            f"{here}.hostDevices", "Host Devices feature gate is not enabled in kubevirt-config"
        )


def _inputs(devices: Devices, here: str) -> Causes:
    for index, each in enumerate(devices.inputs):
        at = f"{here}[{index}]"
        if each.bus not in (None, "", "virtio", "usb"):
            yield invalid(f"{at}.bus", "Input device can have only virtio or usb bus.")
        if each.type not in ("", "tablet"):
            yield invalid(f"{at}.type", "Input device can have only tablet type.")
        yield from _alias(each.name, at)


def _output(devices: Devices, here: str) -> Causes:
    if sound := devices.sound:
        if sound.model and sound.model not in SOUND:
            yield not_supported(
                f"{here}.sound",
                "Sound device type is not supported. Options: 'ich9' or 'ac97'",
            )
        if not sound.name:
            yield required(f"{here}.sound", "Sound device requires a name field.")
        else:
            yield from _alias(sound.name, f"{here}.sound")
    video = devices.video
    if video and video.type and video.type not in VIDEO:
        at = f"{here}.video.type"
        yield not_supported(at, f"{at} '{plain(video.type)}' is not known; use {', '.join(VIDEO)}")
    if video and devices.autoattach_graphics_device is False:
        yield invalid(
            f"{here}.video", "Video type cannot be set when autoattachGraphicsDevice is false"
        )


def _watchdog(watchdog: Watchdog, here: str, model: str | None, architecture: str) -> Causes:
    yield from _alias(watchdog.name, here)
    if model is None:
        yield not_supported(here, f"{here} is not supported on architecture {plain(architecture)}")
        return
    for name, device in (("i6300esb", watchdog.i6300esb), ("diag288", watchdog.diag288)):
        if device is None:
            continue
        if name != model:
            yield not_supported(
                f"{here}.{name}",
                f"{here}.{name} is not supported on this architecture; use {model}",
            )
        if device.action and device.action not in ACTIONS:
            at = f"{here}.{name}.action"
            yield invalid(
                at, f"{at} '{plain(device.action)}' is not known; use {', '.join(ACTIONS)}"
            )


def _alias(name: str, at: str) -> Causes:
    if not _ALIAS.fullmatch(name):
        yield invalid(
            f"{at}.name",
            f"{at}.name '{plain(name)}' is no name of a device: use letters, digits, dashes and "
            f"underscores",
        )
