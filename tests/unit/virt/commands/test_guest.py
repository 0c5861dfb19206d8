"""When a guest can be paused, reset, looked at."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.unit.virt.machine.objects import a_machine

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.virt.commands import guest
from kubevirt.virt.commands.refusal import Refusal

Check = Callable[[VirtualMachineInstance], Any]


def a_guest(
    phase: str = "Running",
    *conditions: str,
    spec: dict[str, Any] | None = None,
    devices: dict[str, Any] | None = None,
    features: dict[str, Any] | None = None,
    **status: Any,
) -> VirtualMachineInstance:
    domain: dict[str, Any] = {"devices": devices or {}}
    if features is not None:
        domain["features"] = features
    raw = {
        "metadata": {"name": "testvm", "namespace": "home", "uid": "vmi-1"},
        "spec": {"domain": domain, **(spec or {})},
        "status": {
            "phase": phase,
            "nodeName": "node01",
            "conditions": [{"type": each, "status": "True"} for each in conditions],
            **status,
        },
    }
    return msgspec.convert(raw, VirtualMachineInstance)


def said(check: Check, vmi: VirtualMachineInstance) -> tuple[int, str]:
    with pytest.raises(Refusal) as caught:
        check(vmi)
    text = str(caught.value)
    prefix = 'Operation cannot be fulfilled on virtualmachineinstance.kubevirt.io "testvm": '
    assert text.startswith(prefix) == (caught.value.code == 409)
    return caught.value.code, text.removeprefix(prefix)


def can_unpause(vmi: VirtualMachineInstance) -> None:
    guest.can_unpause(vmi, None)


FORBIDDEN = 'virtualmachineinstance.kubevirt.io "testvm" is forbidden: '
UNREACHABLE = "Unable to connect to VirtualMachineInstance because"
PROBED = {"livenessProbe": {"httpGet": {"port": 80}}}
PINGED: dict[str, Any] = {"livenessProbe": {"guestAgentPing": {}}}


@pytest.mark.parametrize(
    ("check", "vmi", "answer"),
    [
        (guest.can_pause, a_guest("Scheduled"), (409, "VM is not running")),
        (guest.can_pause, a_guest("Running", "Paused"), (409, "VMI is already paused")),
        (
            guest.can_pause,
            a_guest(spec=PROBED),
            (
                403,
                f"{FORBIDDEN}Pausing VMIs with a non-GuestAgentPing LivenessProbe is not supported",
            ),
        ),
        (can_unpause, a_guest("Failed"), (409, "VMI is not running")),
        (can_unpause, a_guest(), (409, "VMI is not paused")),
        (
            guest.can_reset,
            a_guest("Pending"),
            (409, "Failed to reset non-running VMI with phase Pending: VMI is not running"),
        ),
        (guest.can_soft_reboot, a_guest("Pending"), (409, "VM is not running")),
        (guest.can_soft_reboot, a_guest("Running", "Paused"), (409, "VMI is paused")),
        (
            guest.can_soft_reboot,
            a_guest(features={"acpi": {"enabled": False}}),
            (409, "VMI neither have the agent connected nor the ACPI feature enabled"),
        ),
        (guest.can_be_asked, a_guest(), (409, "VMI does not have guest agent connected")),
        (
            guest.has_console,
            a_guest(devices={"autoattachSerialConsole": False}),
            (400, "No serial consoles are present."),
        ),
        (guest.has_console, a_guest("Pending"), (400, "VMI is not running")),
        (guest.has_console, a_guest("Failed"), (409, "VMI is in failed status")),
        (
            guest.has_screen,
            a_guest(devices={"autoattachGraphicsDevice": False}),
            (400, "No graphics devices are present."),
        ),
        (
            guest.on_node,
            a_guest("Scheduling"),
            (
                400,
                f"{UNREACHABLE} phase is Scheduling instead of Running or Scheduled",
            ),
        ),
        (guest.address, a_guest("Running", "Paused"), (409, "VMI is paused")),
        (guest.address, a_guest(), (400, "no network interfaces are present")),
    ],
)
def test_a_guest_that_is_not_as_it_should_be(
    check: Check, vmi: VirtualMachineInstance, answer: tuple[int, str]
) -> None:
    assert said(check, vmi) == answer


@pytest.mark.parametrize(
    ("check", "vmi"),
    [
        (guest.can_pause, a_guest()),
        (guest.can_pause, a_guest(spec=PINGED)),
        (can_unpause, a_guest("Running", "Paused")),
        (guest.can_reset, a_guest()),
        (guest.can_soft_reboot, a_guest()),
        (
            guest.can_soft_reboot,
            a_guest("Running", "AgentConnected", features={"acpi": {"enabled": False}}),
        ),
        (guest.can_be_asked, a_guest("Running", "AgentConnected")),
        (guest.has_console, a_guest()),
        (guest.has_screen, a_guest("Scheduled")),
        (guest.on_node, a_guest("Scheduled")),
        (guest.address, a_guest(interfaces=[{"ipAddress": "10.0.0.7"}])),
    ],
)
def test_a_guest_that_is(check: Check, vmi: VirtualMachineInstance) -> None:
    check(vmi)


def test_nobody_wakes_a_guest_while_a_snapshot_is_taken() -> None:
    vm = a_machine(running=True)
    status = msgspec.structs.replace(vm.status, snapshot_in_progress="nightly")
    vm = msgspec.structs.replace(vm, status=status)
    answer = said(lambda vmi: guest.can_unpause(vmi, vm), a_guest("Running", "Paused"))
    assert answer == (409, "VM snapshot is in progress")


@pytest.mark.parametrize("text", ["0", "65536", "-1", "http", "9" * 5000, "٣"])
def test_no_port_of_that_name(text: str) -> None:
    with pytest.raises(Refusal, match="port must be a number from 1 to 65535"):
        guest.port(text)


def test_a_port_has_a_number_and_a_protocol() -> None:
    assert (guest.port("8080"), guest.protocol("")) == (8080, "tcp")
    assert guest.protocol("udp") == "udp"
    with pytest.raises(Refusal, match="port must not be empty"):
        guest.port("")
    with pytest.raises(Refusal, match="protocol must be tcp or udp"):
        guest.protocol("sctp")
