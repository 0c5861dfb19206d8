"""What of the cluster's configuration reaches a domain."""

from typing import Any

import msgspec
import pytest

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.virt.convert.facts import ClusterFacts, SmbiosFacts, cluster_facts
from kubevirt.virt.layout import Layout


@pytest.mark.parametrize(
    ("configuration", "facts"),
    [
        ({}, ClusterFacts()),
        ({"memBalloonStatsPeriod": 0}, ClusterFacts(balloon_stats_period=0)),
        (
            {"virtualMachineOptions": {"disableFreePageReporting": {}}},
            ClusterFacts(free_page_reporting=False),
        ),
        (
            {"virtualMachineOptions": {"disableSerialConsoleLog": {}}},
            ClusterFacts(serial_console_log=False),
        ),
        (
            {"smbios": {"manufacturer": "Acme", "sku": "x", "version": "1"}},
            ClusterFacts(smbios=SmbiosFacts(manufacturer="Acme", sku="x", version="1")),
        ),
    ],
)
def test_settings_of_the_cluster_become_facts(
    configuration: dict[str, Any], facts: ClusterFacts
) -> None:
    assert cluster_facts(msgspec.convert(configuration, KubeVirtConfiguration)) == facts


def test_a_folder_may_end_in_a_slash() -> None:
    layout = Layout(private="/run/private/")
    assert layout.claim_file("root") == "/run/private/vmi-disks/root/disk.img"
