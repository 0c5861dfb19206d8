"""What is left of a node's conditions when it is not heard of any more."""

from datetime import UTC, datetime

from tests.unit.embedded.controllers.nodes.objects import a_node

from kubevirt.embedded.controllers.nodes import health

NOW = datetime(2030, 1, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_a_node_is_ready_only_if_it_says_so() -> None:
    assert health.is_ready(a_node(Ready="True"))
    assert not health.is_ready(a_node(Ready="False"))
    assert not health.is_ready(a_node())


def test_what_a_node_said_is_not_known_any_more() -> None:
    made = health.lost(a_node(Ready="True", MemoryPressure="False"), NOW)

    assert [(each["type"], each["status"], each["reason"]) for each in made] == [
        ("Ready", "Unknown", "NodeStatusUnknown"),
        ("MemoryPressure", "Unknown", "NodeStatusUnknown"),
        ("DiskPressure", "Unknown", "NodeStatusNeverUpdated"),
        ("PIDPressure", "Unknown", "NodeStatusNeverUpdated"),
    ]
    assert made[0]["message"] == "Kubelet stopped posting node status."
    assert "lastHeartbeatTime" not in made[0], "when it was last heard of stays"
    assert made[2]["message"] == "Kubelet never posted node status."
    assert made[2]["lastHeartbeatTime"] == datetime(2030, 1, 1, tzinfo=UTC)
    assert {each["lastTransitionTime"] for each in made} == {NOW.replace(microsecond=0)}


def test_it_is_said_once() -> None:
    lost = a_node(
        Ready="Unknown", MemoryPressure="Unknown", DiskPressure="Unknown", PIDPressure="Unknown"
    )
    assert health.lost(lost, NOW) == []


def test_a_network_that_others_report_on_is_left_alone() -> None:
    made = health.lost(a_node(NetworkUnavailable="False"), NOW)
    assert "NetworkUnavailable" not in {each["type"] for each in made}
