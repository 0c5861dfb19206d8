"""What the handler sends and what lies in the pod, as facts for a conversion."""

from pathlib import Path

import msgspec
import pytest

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.errors import UserError
from kubevirt.components.launcher import facts
from kubevirt.rpc.messages import cmd_pb2 as cmd
from kubevirt.virt.convert.facts import ClusterFacts, HostCpu, InterfaceFacts, NumaNode, SmbiosFacts
from kubevirt.virt.layout import Layout


def test_without_a_handler_the_defaults_hold() -> None:
    assert facts.cluster_facts(None) == ClusterFacts()
    assert facts.numa_nodes(None) == ()


def test_what_the_handler_says_of_the_cluster_counts() -> None:
    options = cmd.VirtualMachineOptions(
        VirtualMachineSMBios=cmd.SMBios(manufacturer="ACME", sku="7"),
        MemBalloonStatsPeriod=0,
        clusterConfig=cmd.ClusterConfig(
            FreePageReportingDisabled=True, SerialConsoleLogDisabled=True
        ),
    )
    assert facts.cluster_facts(options) == ClusterFacts(
        balloon_stats_period=0,
        free_page_reporting=False,
        serial_console_log=False,
        smbios=SmbiosFacts(manufacturer="ACME", sku="7"),
    )


def test_the_nodes_topology_is_taken_over() -> None:
    cell = cmd.Cell(id=1, cpus=[cmd.CPU(id=4, siblings=[4, 5])])
    options = cmd.VirtualMachineOptions(topology=cmd.Topology(numa_cells=[cell]))
    expected = NumaNode(id=1, cpus=(HostCpu(id=4, siblings=(4, 5)),))
    assert facts.numa_nodes(options) == (expected,)


def test_network_cards_are_listed_by_the_privileged_side(tmp_path: Path) -> None:
    layout = Layout(share=str(tmp_path))
    assert facts.interface_facts(layout) == {}
    (tmp_path / "interfaces.json").write_text('{"default": {"tap": "tap0", "mtu": 1450}}')
    assert facts.interface_facts(layout) == {"default": InterfaceFacts(tap="tap0", mtu=1450)}


def test_a_list_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "interfaces.json").write_text('{"default": {}}')
    with pytest.raises(UserError, match=r"interfaces.json cannot be read: .*missing.*`tap`"):
        facts.interface_facts(Layout(share=str(tmp_path)))


def test_huge_pages_count_only_where_there_are_any(tmp_path: Path) -> None:
    for size, count in (("2048", "8"), ("1048576", "0")):
        folder = tmp_path / f"hugepages-{size}kB"
        folder.mkdir()
        (folder / "nr_hugepages").write_text(f"{count}\n")
    assert facts.huge_page_sizes(str(tmp_path)) == (2 << 20,)
    assert facts.huge_page_sizes(str(tmp_path / "nothing")) == ()


def test_a_claims_size_comes_from_the_status() -> None:
    def status(name: str, capacity: dict[str, str]) -> dict[str, object]:
        claim = {"capacity": capacity}
        return {"name": name, "target": "", "persistentVolumeClaimInfo": claim}

    vmi = msgspec.convert(
        {
            "spec": {"domain": {"devices": {}}},
            "status": {"volumeStatus": [status("a", {"storage": "1Gi"}), status("b", {})]},
        },
        VirtualMachineInstance,
    )
    assert facts.claim_sizes(vmi) == {"a": 1 << 30}
