"""Input devices and the watchdog."""

from msgspec.structs import replace

from kubevirt.api.devices import Diag288Watchdog, I6300ESBWatchdog, Input, Watchdog
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.architecture import Architecture

Spec = VirtualMachineInstanceSpec

AUTOMATIC_INPUT = Input(name="default-0", type="tablet", bus="usb")


def with_devices(spec: Spec, architecture: Architecture) -> Spec:
    devices = spec.domain.devices
    inputs = tuple(
        replace(each, bus=each.bus or "usb", type=each.type or "tablet") for each in devices.inputs
    )
    if devices.autoattach_input_device and not inputs:
        inputs = (AUTOMATIC_INPUT,)
    watchdog = devices.watchdog and _with_action(devices.watchdog, architecture)
    devices = replace(devices, inputs=inputs, watchdog=watchdog)
    return replace(spec, domain=replace(spec.domain, devices=devices))


def _with_action(watchdog: Watchdog, architecture: Architecture) -> Watchdog:
    match architecture.watchdog_model:
        case "i6300esb":
            device = watchdog.i6300esb or I6300ESBWatchdog()
            return replace(watchdog, i6300esb=replace(device, action=device.action or "reset"))
        case "diag288":
            other = watchdog.diag288 or Diag288Watchdog()
            return replace(watchdog, diag288=replace(other, action=other.action or "reset"))
        case _:
            return watchdog
