"""What is written of an instance."""

from msgspec.structs import replace
from tests.unit.virt.instance.test_guest import an_instance

from kubevirt.api.configuration import KubeVirtConfiguration, SMBiosConfiguration
from kubevirt.api.guest_os import VirtualMachineInstanceGuestOSInfo
from kubevirt.components.handler.instances.options import options
from kubevirt.components.handler.instances.status import patch


def test_only_what_changed_is_written_and_only_upon_what_was_seen() -> None:
    vmi = an_instance()
    told = replace(vmi.status, phase="Running")
    assert patch(vmi, told).body == {
        "metadata": {"uid": "vmi-1", "resourceVersion": vmi.metadata.resource_version},
        "status": {"phase": "Running"},
    }


def test_what_is_gone_is_named_also_in_the_middle_of_something() -> None:
    vmi = an_instance()
    known = VirtualMachineInstanceGuestOSInfo(name="Linux", id="linux")
    vmi = replace(vmi, status=replace(vmi.status, guest_os_info=known, reason="x"))
    less = replace(
        vmi.status, guest_os_info=VirtualMachineInstanceGuestOSInfo(name="Linux"), reason=None
    )
    body = patch(vmi, less).body
    assert isinstance(body, dict)
    assert body["status"] == {"guestOSInfo": {"id": None}, "reason": None}


def test_settings_of_the_installation_reach_the_launcher() -> None:
    made = options(KubeVirtConfiguration(smbios=SMBiosConfiguration(sku="7")))
    assert made.MemBalloonStatsPeriod == 10
    assert made.VirtualMachineSMBios.sku == "7"
    assert not made.clusterConfig.SerialConsoleLogDisabled
    off = options(KubeVirtConfiguration(mem_balloon_stats_period=0))
    assert off.MemBalloonStatsPeriod == 0
