"""How what was decided gets to the server: pods' statuses, last words, the node itself."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.embedded.node.objects import a_pod, at, condition

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import PodCondition, PodStatus
from kubevirt.embedded.node import node_status, pod_status, termination
from kubevirt.embedded.node.machine import Load, Machine
from kubevirt.embedded.node.pod_status import difference
from kubevirt.embedded.node.settings import NodeSettings


def status(**fields: Any) -> PodStatus:
    return msgspec.convert(fields, PodStatus)


# Pods


def test_times_are_stored_in_seconds() -> None:
    exact = datetime(2030, 1, 1, 10, 0, 0, 999_999, tzinfo=UTC)

    assert pod_status.data(PodStatus(start_time=exact)) == {"startTime": "2030-01-01T10:00:00Z"}


def test_what_did_not_change_is_not_written() -> None:
    one = status(phase="Running", containerStatuses=[_container(lastState={})])
    same = status(phase="Running", containerStatuses=[_container()])

    assert difference(pod_status.data(one), pod_status.data(same)) == {}


def _container(**more: Any) -> dict[str, Any]:
    return {"name": "main", "image": "x", "imageID": "", "ready": True, "restartCount": 0, **more}


def _ended(code: int) -> dict[str, Any]:
    return _container(state={"terminated": {"exitCode": code}})


def test_only_conditions_that_changed_are_written() -> None:
    before = {
        "conditions": [
            {"type": "Ready", "status": "False", "reason": "ContainersNotReady"},
            {"type": "Other", "status": "True"},
        ]
    }
    after = {
        "conditions": [{"type": "Other", "status": "True"}, {"type": "Ready", "status": "True"}]
    }

    assert difference(before, after) == {
        "conditions": [{"type": "Ready", "status": "True", "reason": None}]
    }


def test_another_order_of_conditions_is_no_change() -> None:
    one, other = {"type": "A", "status": "True"}, {"type": "B", "status": "True"}

    assert difference({"conditions": [one, other]}, {"conditions": [other, one]}) == {}


def test_what_is_gone_is_removed_and_addresses_are_replaced() -> None:
    before = {"reason": "Evicted", "podIPs": [{"ip": "10.0.0.1"}]}

    assert difference(before, {"podIPs": [{"ip": "10.0.0.2"}]}) == {
        "reason": None,
        "podIPs": [{"ip": "10.0.0.2"}, {"$patch": "replace"}],
    }
    assert difference(before, {"reason": "Evicted"}) == {"podIPs": None}


def test_conditions_of_others_are_taken_over_and_our_own_are_not() -> None:
    ours = PodStatus(
        phase="Running",
        conditions=(
            PodCondition(type="Ready", status="True"),
            PodCondition(type="example.com/gate", status="False"),
        ),
    )
    server = a_pod(
        status=PodStatus(
            phase="Pending",
            qos_class="Burstable",
            conditions=(
                PodCondition(type="Ready", status="False"),
                PodCondition(type="example.com/gate", status="True"),
                PodCondition(type="DisruptionTarget", status="True"),
            ),
        )
    )

    found = pod_status.merged(server, ours).status

    assert (found.phase, found.qos_class) == ("Running", "Burstable")
    assert condition(found, "Ready").status == "True"
    assert condition(found, "example.com/gate").status == "True"
    assert condition(found, "DisruptionTarget").status == "True"


@pytest.mark.parametrize(
    ("after", "is_urgent"),
    [
        ({"phase": "Pending", "podIP": "10.0.0.1"}, False),
        ({"phase": "Running"}, True),
        ({"phase": "Pending", "conditions": [{"type": "Ready", "status": "True"}]}, True),
        (
            {
                "phase": "Pending",
                "containerStatuses": [
                    _container(state={"waiting": {"reason": "ErrImagePull", "message": "no"}})
                ],
            },
            True,
        ),
        (
            {
                "phase": "Pending",
                "containerStatuses": [
                    _container(state={"waiting": {"reason": "ContainerCreating"}})
                ],
            },
            False,
        ),
        ({"phase": "Pending", "initContainerStatuses": [_ended(0)]}, False),
        ({"phase": "Pending", "initContainerStatuses": [_ended(1)]}, True),
    ],
    ids=["on its way", "phase", "ready", "trouble", "no trouble", "init done", "init failed"],
)
def test_what_somebody_waits_for_is_told_at_once(after: dict[str, Any], *, is_urgent: bool) -> None:
    assert pod_status.is_urgent(status(phase="Pending"), status(**after)) is is_urgent


# Last words


def test_a_message_is_cut_at_its_limit(tmp_path: Path) -> None:
    (tmp_path / "message").write_text("x" * 10_000)

    said = termination.message(tmp_path, Container(name="main"), has_failed=False)

    assert said == "x" * 4096


def test_a_link_in_the_place_of_a_message_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "message").symlink_to("/etc/hostname")

    assert termination.message(tmp_path, Container(name="main"), has_failed=True) == ""


def test_the_end_of_a_log_is_bounded_in_lines_and_bytes() -> None:
    lines = [f"2030-01-01T00:00:00.000000000Z stdout F line {number}" for number in range(200)]

    said = termination.from_log("half a line\n" + "\n".join(lines))

    assert said.splitlines()[0] == "line 120"
    assert said.splitlines()[-1] == "line 199"
    assert len(termination.from_log(f"{lines[0]}{'x' * 5000}\n").encode()) == 2048


def test_a_log_is_told_only_of_who_failed_in_silence(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("2030-01-01T00:00:00.0Z stderr F it broke\n")
    asking = Container(name="main", termination_message_policy="FallbackToLogsOnError")

    assert termination.message(tmp_path, asking, has_failed=True) == "it broke\n"
    assert termination.message(tmp_path, asking, has_failed=False) == ""
    assert termination.message(tmp_path, Container(name="main"), has_failed=True) == ""


# The node

MACHINE = Machine(
    cpus=4,
    memory_bytes=8 << 30,
    disk_bytes=100 << 30,
    architecture="amd64",
    kernel="6.1",
    system="Debian",
    machine_id="m",
    system_uuid="u",
    boot_id="b",
)
PLENTY = Load(memory_bytes=4 << 30, disk_bytes=50 << 30, processes=10_000)
SETTINGS = NodeSettings(name="node01", folder=Path("/nodes/node01"), addresses=("10.0.0.1",))


def test_a_node_offers_what_it_has_less_what_it_needs() -> None:
    found = node_status.of(SETTINGS, MACHINE, {"x.io/gpu": (2, 1)})

    assert found["capacity"] == {
        "cpu": "4",
        "memory": "8388608Ki",
        "ephemeral-storage": "104857600Ki",
        "pods": "110",
        "x.io/gpu": "2",
    }
    assert found["allocatable"]["memory"] == f"{8388608 - 102400}Ki"
    assert found["allocatable"]["x.io/gpu"] == "1"
    assert found["addresses"] == [
        {"type": "InternalIP", "address": "10.0.0.1"},
        {"type": "Hostname", "address": "node01"},
    ]


def test_a_node_that_has_plenty_is_ready() -> None:
    found = {each["type"]: each for each in node_status.conditions(PLENTY, "", {}, at(0))}

    assert {kind: each["status"] for kind, each in found.items()} == {
        "NetworkUnavailable": "False",
        "MemoryPressure": "False",
        "DiskPressure": "False",
        "PIDPressure": "False",
        "Ready": "True",
    }
    assert found["DiskPressure"]["reason"] == "KubeletHasNoDiskPressure"
    assert found["DiskPressure"]["message"] == "kubelet has no disk pressure"
    assert found["MemoryPressure"]["message"] == "kubelet has sufficient memory available"


def test_a_node_that_is_short_of_something_says_so() -> None:
    short = Load(memory_bytes=1, disk_bytes=1, processes=1)

    found = {each["type"]: each for each in node_status.conditions(short, "", {}, at(0))}

    assert found["MemoryPressure"]["reason"] == "KubeletHasInsufficientMemory"
    assert found["DiskPressure"]["reason"] == "KubeletHasDiskPressure"
    assert found["PIDPressure"]["message"] == "kubelet has insufficient PID available"


def test_a_node_whose_network_does_not_work_says_so() -> None:
    why = "the rules of Services cannot be had: nft failed"

    found = {each["type"]: each for each in node_status.conditions(PLENTY, why, {}, at(0))}

    told = found["NetworkUnavailable"]
    assert (told["status"], told["reason"], told["message"]) == ("True", "NetworkIsDown", why)
    assert found["Ready"]["status"] == "True"


def test_a_node_is_short_until_it_has_some_to_spare() -> None:
    def short(memory_bytes: int, before: dict[str, Any]) -> str:
        left = Load(memory_bytes=memory_bytes, disk_bytes=1 << 40, processes=10_000)
        found = {each["type"]: each for each in node_status.conditions(left, "", before, at(0))}
        return str(found["MemoryPressure"]["status"])

    was_short = {"MemoryPressure": {"type": "MemoryPressure", "status": "True"}}
    assert short(120 << 20, {}) == "False"
    assert short(120 << 20, was_short) == "True"
    assert short(160 << 20, was_short) == "False"


def test_time_that_passes_is_no_news() -> None:
    first = node_status.conditions(PLENTY, "", {}, at(0))
    before = {each["type"]: each for each in first}

    later = node_status.conditions(PLENTY, "", before, at(0) + timedelta(hours=1))

    assert later[0]["lastTransitionTime"] == first[0]["lastTransitionTime"]
    assert later[0]["lastHeartbeatTime"] != first[0]["lastHeartbeatTime"]
    assert not node_status.is_news(first, later)
    short = Load(memory_bytes=1, disk_bytes=1 << 40, processes=10_000)
    assert node_status.is_news(first, node_status.conditions(short, "", before, at(1)))
