"""What a virt-handler still knows when it comes back."""

from pathlib import Path

from msgspec.structs import replace
from tests.unit.virt.pods import a_guest

from kubevirt.components.handler.launchers.identity import Identity, identity_of
from kubevirt.components.handler.launchers.records import Record, Records
from kubevirt.rpc import reports
from kubevirt.virt.network.facts import PodFacts, PodLink, Route
from kubevirt.virt.network.planning import plan_network

WHOSE = Identity(namespace="default", name="testvm", uid="vmi-1", pod="pod-1")
LINK = PodLink(
    name="eth0",
    mac="0a:58:0a:f4:01:05",
    mtu=1450,
    addresses=("10.244.1.5/24",),
    routes=(Route(destination="0.0.0.0/0", gateway="10.244.1.1"),),
)


def test_a_record_is_found_as_it_was_written(tmp_path: Path) -> None:
    pod = PodFacts(links={"eth0": LINK})
    for binding in ("masquerade", "bridge"):
        plans = plan_network(a_guest({"name": "default", binding: {}}), pod)
        record = Record(whose=WHOSE, pod=pod, plans=plans, ending=reports.Domain())
        Records(tmp_path).put(record)
        assert Records(tmp_path).all() == [record]
        assert Records(tmp_path).get("pod-1") == record
    Records(tmp_path).forget("pod-1")
    assert Records(tmp_path).all() == []


def test_a_record_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    (tmp_path / "pod-1.json").write_text("{")
    assert Records(tmp_path).get("pod-1") is None
    assert Records(tmp_path).all() == []


def test_an_instance_is_its_pods_on_this_node_only() -> None:
    vmi = a_guest({"name": "default", "masquerade": {}})

    def on(**pods: str) -> Identity | None:
        status = replace(vmi.status, active_pods=pods)
        return identity_of(replace(vmi, status=status), "node01")

    assert on(one="node02") is None
    found = on(one="node02", two="node01")
    assert found is not None
    assert found.pod == "two"
    assert on(one="node01", two="node01") is None  # who is who is not to be guessed
    assert on(**{"../etc": "node01"}) is None
