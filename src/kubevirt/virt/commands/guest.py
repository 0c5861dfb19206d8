"""When a guest can be paused, reset, looked at: each raises a `Refusal` if it cannot."""

from typing import Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine
from kubevirt.virt.commands.refusal import INSTANCE, Refusal, bad_request, conflict, forbidden
from kubevirt.virt.conditions import AGENT_CONNECTED, PAUSED, is_true
from kubevirt.virt.instance import phases

VM_NOT_RUNNING: Final = "VM is not running"
NOT_RUNNING: Final = "VMI is not running"
WITH_NODE: Final = frozenset({phases.RUNNING, phases.SCHEDULED})
MAX_PORT: Final = 65535

Instance = VirtualMachineInstance


def on_node(vmi: Instance) -> str:
    """The node that has it."""
    if vmi.status.phase not in WITH_NODE or not vmi.status.node_name:
        raise bad_request(
            "Unable to connect to VirtualMachineInstance because phase is "
            f"{vmi.status.phase or 'Unset'} instead of Running or Scheduled"
        )
    return vmi.status.node_name


def can_pause(vmi: Instance) -> None:
    name = vmi.metadata.name
    if vmi.status.phase != phases.RUNNING:
        raise conflict(INSTANCE, name, VM_NOT_RUNNING)
    probe = vmi.spec.liveness_probe
    if probe is not None and probe.guest_agent_ping is None:
        text = "Pausing VMIs with a non-GuestAgentPing LivenessProbe is not supported"
        raise forbidden(INSTANCE, name, text)
    if _is_paused(vmi):
        raise conflict(INSTANCE, name, "VMI is already paused")


def can_unpause(vmi: Instance, owner: VirtualMachine | None) -> None:
    name = vmi.metadata.name
    if owner is not None and owner.status.snapshot_in_progress:
        raise conflict(INSTANCE, name, "VM snapshot is in progress")
    if vmi.status.phase != phases.RUNNING:
        raise conflict(INSTANCE, name, NOT_RUNNING)
    if not _is_paused(vmi):
        raise conflict(INSTANCE, name, "VMI is not paused")


def can_reset(vmi: Instance) -> None:
    if vmi.status.phase != phases.RUNNING:
        phase = vmi.status.phase or "Unset"
        text = f"Failed to reset non-running VMI with phase {phase}: {NOT_RUNNING}"
        raise conflict(INSTANCE, vmi.metadata.name, text)


def can_soft_reboot(vmi: Instance) -> None:
    name = vmi.metadata.name
    if vmi.status.phase != phases.RUNNING:
        raise conflict(INSTANCE, name, VM_NOT_RUNNING)
    if _is_paused(vmi):
        raise conflict(INSTANCE, name, "VMI is paused")
    if not _has_agent(vmi) and not _has_acpi(vmi):
        text = "VMI neither have the agent connected nor the ACPI feature enabled"
        raise conflict(INSTANCE, name, text)


def can_be_asked(vmi: Instance) -> None:
    """By its agent."""
    if not _has_agent(vmi):
        text = "VMI does not have guest agent connected"
        raise conflict(INSTANCE, vmi.metadata.name, text)


def has_console(vmi: Instance) -> None:
    if vmi.spec.domain.devices.autoattach_serial_console is False:
        raise bad_request("No serial consoles are present.")
    if vmi.status.phase == phases.FAILED:
        raise conflict(INSTANCE, vmi.metadata.name, "VMI is in failed status")
    if vmi.status.phase != phases.RUNNING:
        raise bad_request(NOT_RUNNING)


def has_screen(vmi: Instance) -> None:
    if vmi.spec.domain.devices.autoattach_graphics_device is False:
        raise bad_request("No graphics devices are present.")


def address(vmi: Instance) -> str:
    """Where its ports are."""
    if _is_paused(vmi):
        raise conflict(INSTANCE, vmi.metadata.name, "VMI is paused")
    on_node(vmi)
    found = vmi.status.interfaces[0].ip_address if vmi.status.interfaces else None
    if not found:
        raise bad_request("no network interfaces are present")
    return found


def port(text: str) -> int:
    if not text:
        raise bad_request("port must not be empty")
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:6]) <= MAX_PORT):
        raise bad_request(f"port must be a number from 1 to {MAX_PORT}")
    return int(text)


def protocol(text: str) -> str:
    if text not in ("", "tcp", "udp"):
        raise bad_request("protocol must be tcp or udp")
    return text or "tcp"


def not_its_own(vmi: Instance, found: str) -> Refusal:
    """A guest tells its own address, and might tell that of somebody else."""
    return bad_request(
        f"{found} is not an address of the pod of VirtualMachineInstance {vmi.metadata.name}, "
        "so nothing is sent there"
    )


def _is_paused(vmi: Instance) -> bool:
    return is_true(vmi.status.conditions, PAUSED)


def _has_agent(vmi: Instance) -> bool:
    return is_true(vmi.status.conditions, AGENT_CONNECTED)


def _has_acpi(vmi: Instance) -> bool:
    """On unless switched off."""
    features = vmi.spec.domain.features
    return features is None or features.acpi.enabled is not False
