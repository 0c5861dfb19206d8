"""What is believed of a launcher's report."""

from kubevirt.components.handler.launchers.sight import is_marked, sight, word
from kubevirt.rpc import reports
from kubevirt.rpc.reports import (
    Alias,
    Channel,
    ChannelTarget,
    Devices,
    Disk,
    Domain,
    Freeze,
    GracePeriod,
    Interface,
    InterfaceStatus,
    Kubevirt,
    Mac,
    MachineType,
    Metadata,
    OsInfo,
    Spec,
    Status,
    System,
    Target,
)

AGENT = Channel(target=ChannelTarget(name=reports.AGENT, state=reports.CONNECTED))
MAC = "02:00:00:00:00:01"


def a_report(*channels: Channel, **status: object) -> Domain:
    card = Interface(alias=Alias(name="default"), mac=Mac(mac=MAC))
    disk = Disk(alias=Alias(name="rootfs"), target=Target(device="vda"))
    return Domain(
        spec=Spec(
            type="qemu",
            os=System(type=MachineType(machine="pc-q35-7.2")),
            devices=Devices(interfaces=(card,), disks=(disk,), channels=channels),
        ),
        status=Status(**{"status": "Running", **status}),  # type: ignore[arg-type]
    )


def test_a_report_becomes_what_decisions_are_made_by() -> None:
    seen = sight(a_report(fs_freeze_status=Freeze(status=reports.FROZEN)))
    assert (seen.state, seen.is_emulated, seen.machine) == ("Running", True, "pc-q35-7.2")
    assert seen.is_frozen
    assert [(each.name, each.mac) for each in seen.cards] == [("default", MAC)]
    assert seen.targets == (("rootfs", "vda"),)


def test_what_an_agent_tells_counts_only_while_it_is_there() -> None:
    told = {"interfaces": (InterfaceStatus(mac=MAC, ip="10.0.2.2"),), "os_info": OsInfo(name="x")}
    assert sight(a_report(**told)).guest_cards == ()
    seen = sight(a_report(AGENT, **told))
    assert [each.addresses for each in seen.guest_cards] == [("10.0.2.2",)]
    assert seen.os.name == "x"
    assert seen.agent_commands is None


def test_of_an_agents_commands_those_are_kept_that_it_is_judged_by() -> None:
    told = {"agent_commands": ("guest-exec", *(f"guest-{number}" for number in range(9999)))}
    assert sight(a_report(AGENT, **told)).agent_commands == frozenset({"guest-exec"})
    assert sight(a_report(AGENT, agent_commands=())).agent_commands == frozenset()
    assert sight(a_report(**told)).agent_commands is None


def test_a_count_of_resets_is_one() -> None:
    assert [sight(a_report(resets=each)).resets for each in (0, 3, -7)] == [0, 3, 0]
    assert sight(a_report(resets=10**100)).resets < 10**10


def test_what_is_no_address_is_left_out() -> None:
    card = InterfaceStatus(ip="10.0.2.2", ips=("10.0.2.2/24", "<script>", "fe80::1%eth0", ""))
    seen = sight(a_report(AGENT, interfaces=(card,)))
    assert seen.guest_cards[0].addresses == ("10.0.2.2", "fe80::1")


def test_a_launchers_inventions_find_no_room_in_a_status() -> None:
    many = tuple(InterfaceStatus(ips=tuple(["10.0.0.1"] * 999)) for _ in range(9999))
    seen = sight(a_report(AGENT, interfaces=many, reason="x" * 99999))
    assert len(seen.guest_cards) == 64
    assert len(seen.reason) == 256
    assert word("a\x00\x1bb\nc") == "abc"


def test_a_launcher_that_was_told_to_end_says_so() -> None:
    marked = Kubevirt(grace_period=GracePeriod(marked_for_graceful_shutdown=True))
    assert is_marked(Domain(spec=Spec(metadata=Metadata(kubevirt=marked))))
    assert not is_marked(Domain())
