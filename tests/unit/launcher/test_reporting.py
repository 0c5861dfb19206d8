"""A domain as a handler reads it: KubeVirt's names, and nothing lost on the way."""

import json

from tests.unit.virt.domain_cases import cases

from kubevirt.components.launcher.reporting import spec_of
from kubevirt.rpc import reports, stats
from kubevirt.virt.domain.domain import Domain
from kubevirt.virt.domain.metadata import GracePeriod, Kubevirt, MemoryDump, Metadata
from kubevirt.virt.domain.xml.reading import from_xml


def domains() -> list[Domain]:
    return [from_xml(case.golden.read_bytes(), Domain) for case in cases()]


def test_every_golden_domain_can_be_reported_and_read_again() -> None:
    for domain in domains():
        report = reports.Domain(spec=spec_of(domain))
        assert reports.decoded(reports.encoded(report)) == report
        assert report.spec.name == domain.name
        assert len(report.spec.devices.disks) == len(domain.devices.disks)


def test_names_are_those_of_kubevirts_go_structs() -> None:
    grace = GracePeriod(deletion_grace_period_seconds=30, marked_for_graceful_shutdown="true")
    dump = MemoryDump(file_name="one", completed="true", failed="true", failure_reason="full")
    metadata = Metadata(kubevirt=Kubevirt(uid="u1", graceperiod=grace, memory_dump=dump))
    domain = domains()[0]
    report = reports.Domain(
        object_meta=reports.ObjectMeta(name="vm", namespace="ns", uid="u1"),
        spec=spec_of(
            Domain(type="qemu", name="x", memory=domain.memory, os=domain.os, metadata=metadata)
        ),
        status=reports.Status(
            status=reports.RUNNING,
            interfaces=(reports.InterfaceStatus(mac="02:00", ip="10.0.2.2", ips=("10.0.2.2",)),),
            os_info=reports.OsInfo(name="CirrOS"),
            fs_freeze_status=reports.Freeze(status=reports.FROZEN),
        ),
    )
    found = json.loads(reports.encoded(report))
    assert found["ObjectMeta"] == {"name": "vm", "namespace": "ns", "uid": "u1"}
    assert found["Spec"]["Metadata"]["KubeVirt"] == {
        "UID": "u1",
        "GracePeriod": {"DeletionGracePeriodSeconds": 30, "MarkedForGracefulShutdown": True},
        "MemoryDump": {
            "FileName": "one",
            "Completed": True,
            "Failed": True,
            "FailureReason": "full",
        },
    }
    assert found["Status"] == {
        "Status": "Running",
        "Interfaces": [{"Mac": "02:00", "Ip": "10.0.2.2", "IPs": ["10.0.2.2"]}],
        "OSInfo": {"Name": "CirrOS"},
        "FSFreezeStatus": {"Status": "frozen"},
    }


def test_an_alias_of_the_user_is_the_name_in_the_manifest() -> None:
    names = {
        disk.alias.name
        for domain in domains()
        for disk in spec_of(domain).devices.disks
        if disk.alias and disk.alias.user_defined
    }
    assert names
    assert not any(name.startswith("ua-") for name in names)


def test_a_number_that_is_not_known_says_so_in_statistics() -> None:
    found = stats.DomainStats(
        name="x",
        cpu=stats.Cpu(time=5),
        memory=stats.Memory(rss=0),
        net=(stats.Net(name="tap0", rx_bytes=1),),
    )
    plain = json.loads(stats.encoded(found))
    assert plain["Cpu"] == {
        "TimeSet": True,
        "Time": 5,
        "UserSet": False,
        "User": 0,
        "SystemSet": False,
        "System": 0,
    }
    assert (plain["Memory"]["RSSSet"], plain["Memory"]["RSS"]) == (True, 0)
    assert (plain["Net"][0]["NameSet"], plain["Net"][0]["Name"]) == (True, "tap0")
    assert stats.decoded(stats.encoded(found)) == found
