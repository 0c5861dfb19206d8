"""What a launcher is told of the installation."""

from kubevirt.api.configuration import KubeVirtConfiguration, SMBiosConfiguration
from kubevirt.components.handler.instances.options import options


def test_settings_of_the_installation_reach_the_launcher() -> None:
    made = options(KubeVirtConfiguration(smbios=SMBiosConfiguration(sku="7")))
    assert made.MemBalloonStatsPeriod == 10
    assert made.VirtualMachineSMBios.sku == "7"
    assert not made.clusterConfig.SerialConsoleLogDisabled
    off = options(KubeVirtConfiguration(mem_balloon_stats_period=0))
    assert off.MemBalloonStatsPeriod == 0
