"""Why a guest has failed: in its condition, and in the event."""

from typing import Any

import msgspec
import pytest

from kubevirt.api.core.pod import Pod
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.virtual_time import EPOCH
from kubevirt.virt.conditions import found
from kubevirt.virt.instance import guest, happenings, phases, pods
from kubevirt.virt.instance.domain import DomainSeen, GuestSeen

KILLED = "the guest crashed: QEMU was ended by SIGKILL"


def told(state: str, reason: str, ending: str = KILLED) -> tuple[str | None, str | None, str]:
    """Phase, reason of the condition, and the cause for the event."""
    data: dict[str, Any] = {
        "metadata": {"name": "testvm", "uid": "vmi-1"},
        "spec": {"domain": {"devices": {}, "features": {"acpi": {}}}},
        "status": {"phase": phases.RUNNING},
    }
    vmi = msgspec.convert(data, VirtualMachineInstance)
    domain = DomainSeen(state=state, reason=reason, ending=ending)
    status = guest.told(vmi, GuestSeen(domain=domain), EPOCH)
    condition = found(status.conditions, "Synchronized")
    assert condition is None or (condition.status, condition.message) == ("False", ending)
    return status.phase, condition.reason if condition else None, guest.cause(status)


@pytest.mark.parametrize(
    ("state", "reason", "name"),
    [
        ("Crashed", "Crashed", "GuestCrashed"),
        ("Crashed", "Panicked", "GuestPanicked"),
        ("Shutoff", "Destroyed", "GuestKilled"),
    ],
)
def test_a_guest_that_failed_tells_why(state: str, reason: str, name: str) -> None:
    assert told(state, reason) == (phases.FAILED, name, KILLED)


def test_a_guest_that_shut_down_or_runs_has_no_trouble() -> None:
    assert told("Shutoff", "Shutdown", "the guest has shut down") == (phases.SUCCEEDED, None, "")
    assert told("Running", "Booted", "") == (phases.RUNNING, None, "")


def test_a_guest_whose_launcher_does_not_know_why_has_failed_all_the_same() -> None:
    assert told("Crashed", "Crashed", "") == (phases.FAILED, None, "")


def test_the_cause_comes_after_kubevirts_words() -> None:
    event = guest.news(phases.RUNNING, phases.FAILED, KILLED)
    assert event is not None
    assert event.is_warning
    assert event.message == (
        "The VirtualMachineInstance crashed. The guest crashed: QEMU was ended by SIGKILL."
    )
    assert guest.news(phases.RUNNING, phases.FAILED) == happenings.CRASHED


def ended_pod(code: int, message: str = "", reason: str = "Error") -> Pod:
    ended = {"exitCode": code, "message": message, "reason": reason}
    container = {
        "name": "compute",
        "image": "a",
        "imageID": "a",
        "ready": False,
        "restartCount": 0,
        "state": {"terminated": ended},
    }
    data = {
        "metadata": {"name": "pod-1", "uid": "pod-1"},
        "status": {"phase": "Failed", "containerStatuses": [container]},
    }
    return msgspec.convert(data, Pod)


def test_a_launcher_that_was_killed_is_not_said_to_have_ended_for_what_its_log_tells() -> None:
    killed = ended_pod(137, "one line of libvirt\nanother one")
    assert pods.ending(killed) == (
        "container compute was killed with SIGKILL: by somebody, or by its node"
    )
    greedy = ended_pod(137, reason="OOMKilled")
    assert pods.ending(greedy).endswith("it needed more memory than it may have")


def test_of_a_log_the_last_line_is_enough() -> None:
    assert pods.ending(ended_pod(1, "first\nlast\n")) == (
        "container compute ended with code 1: last"
    )
