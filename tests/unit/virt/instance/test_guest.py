"""What virt-handler says of an instance."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from kubevirt.api.guest_os import VirtualMachineInstanceGuestOSInfo
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import VirtualMachineInstanceStatus
from kubevirt.base.virtual_time import EPOCH
from kubevirt.virt.conditions import found
from kubevirt.virt.happening import Failure
from kubevirt.virt.instance import agent, guest, happenings, migratable, phases
from kubevirt.virt.instance.domain import Card, DomainSeen, GuestSeen

MAC = "02:00:00:00:00:01"


def an_instance(phase: str = phases.SCHEDULED, *, is_ending: bool = False, **spec: Any) -> Any:
    data = {
        "metadata": {
            "name": "testvm",
            "uid": "vmi-1",
            "deletionTimestamp": EPOCH.isoformat() if is_ending else None,
        },
        "spec": {"domain": {"devices": {}, "features": {"acpi": {}}}, **spec},
        "status": {"phase": phase},
    }
    return msgspec.convert(data, VirtualMachineInstance)


def networked(binding: str = "masquerade") -> VirtualMachineInstance:
    domain = {"devices": {"interfaces": [{"name": "default", binding: {}}]}}
    vmi: VirtualMachineInstance = an_instance(
        domain=domain, networks=[{"name": "default", "pod": {}}]
    )
    return vmi


def told(
    vmi: VirtualMachineInstance, state: str = "Running", reason: str = "", **more: Any
) -> VirtualMachineInstanceStatus:
    domain = DomainSeen(state=state, reason=reason, **more)
    return guest.told(vmi, GuestSeen(domain=domain), EPOCH)


def condition(status: VirtualMachineInstanceStatus, name: str) -> tuple[str, str | None]:
    each = found(status.conditions, name)
    return (each.status, each.reason) if each else ("", None)


@pytest.mark.parametrize(
    ("state", "reason", "phase"),
    [
        ("Running", "Booted", phases.RUNNING),
        ("Blocked", "", phases.RUNNING),
        ("Paused", "User", phases.RUNNING),
        ("PMSuspended", "", phases.RUNNING),
        ("ShuttingDown", "User", phases.RUNNING),
        ("Paused", "PostcopyFailed", phases.FAILED),
        ("Shutoff", "Shutdown", phases.SUCCEEDED),
        ("Shutoff", "Saved", phases.SUCCEEDED),
        ("Shutoff", "FromSnapshot", phases.SUCCEEDED),
        ("Shutoff", "Destroyed", phases.FAILED),
        ("Shutoff", "Crashed", phases.FAILED),
        ("Shutoff", "Failed", phases.FAILED),
        ("Crashed", "Panicked", phases.FAILED),
        ("Shutoff", "Migrated", phases.SCHEDULED),
        ("Shutoff", "Unknown", phases.SCHEDULED),
        ("NoState", "", phases.SCHEDULED),
    ],
)
def test_the_phase_follows_the_domain(state: str, reason: str, phase: str) -> None:
    assert told(an_instance(), state, reason).phase == phase


@pytest.mark.parametrize(
    "spec",
    [
        {"terminationGracePeriodSeconds": 0},
        {"domain": {"devices": {}}},
        {"domain": {"devices": {}, "features": {"acpi": {"enabled": False}}}},
    ],
)
def test_a_guest_that_could_not_shut_down_may_be_destroyed(spec: dict[str, Any]) -> None:
    assert told(an_instance(**spec), "Shutoff", "Destroyed").phase == phases.SUCCEEDED


def test_a_guest_that_is_not_there_has_not_begun_or_has_failed() -> None:
    nothing = GuestSeen()
    assert guest.phase(an_instance(), nothing) == phases.SCHEDULED
    assert guest.phase(an_instance(is_ending=True), nothing) == phases.FAILED
    assert guest.phase(an_instance(phases.RUNNING), nothing) == phases.FAILED


def test_an_end_is_final() -> None:
    seen = GuestSeen(domain=DomainSeen(state="Running"))
    assert guest.phase(an_instance(phases.SUCCEEDED), seen) == phases.SUCCEEDED


def test_what_was_told_of_an_end_stays() -> None:
    lost = {"type": "Synchronized", "status": "False", "reason": "LauncherLost"}
    vmi = an_instance(phases.FAILED)
    status = msgspec.convert(
        {"phase": "Failed", "conditions": [lost]}, VirtualMachineInstanceStatus
    )
    assert guest.told(replace(vmi, status=status), GuestSeen(), EPOCH) == status


def test_a_guest_whose_launcher_does_not_answer_has_failed() -> None:
    seen = GuestSeen(domain=DomainSeen(state="Running"), is_launcher_lost=True)
    status = guest.told(an_instance(phases.RUNNING), seen, EPOCH)
    assert status.phase == phases.FAILED
    assert condition(status, "Synchronized") == ("False", "LauncherUnresponsive")


def test_a_failure_is_told_until_it_is_over() -> None:
    vmi = an_instance()
    failed = guest.told(vmi, GuestSeen(failure=Failure("SyncFailed", "disk is full")), EPOCH)
    assert condition(failed, "Synchronized") == ("False", "SyncFailed")
    assert condition(told(replace(vmi, status=failed)), "Synchronized") == ("", None)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("User", "PausedByUser"),
        ("StartingUp", "PausedByUser"),
        ("IOError", "PausedIOError"),
        ("Migration", "PausedByMigrationMonitor"),
        ("Snapshot", None),
    ],
)
def test_a_pause_has_a_cause(reason: str, expected: str | None) -> None:
    status = told(an_instance(), "Paused", reason)
    assert condition(status, "Paused")[1] == expected
    after = told(replace(an_instance(), status=status))
    assert condition(after, "Paused") == ("", None)


def test_each_reset_is_told_in_other_words() -> None:
    texts = []
    for resets in (0, 1, 2):
        status = told(an_instance(phases.RUNNING), resets=resets)
        said = found(status.conditions, "Rebooted")
        texts.append(said.message if said is not None else None)
    assert texts[0] is None
    assert len(set(texts)) == 3


def test_what_is_known_of_a_guest_is_told() -> None:
    disk: dict[str, Any] = {"volumes": [{"name": "root", "containerDisk": {"image": "x"}}]}
    status = told(
        an_instance(**disk),
        has_agent=True,
        is_emulated=True,
        is_frozen=True,
        machine="pc-q35-7.2",
        os=VirtualMachineInstanceGuestOSInfo(name="Debian"),
        targets=(("root", "vda"),),
    )
    assert condition(status, "AgentConnected") == ("True", None)
    assert condition(status, "SoftwareEmulation")[0] == "True"
    assert status.machine is not None
    assert (status.machine.type, status.guest_os_info.name) == ("pc-q35-7.2", "Debian")
    assert [(each.name, each.target) for each in status.volume_status] == [("root", "vda")]
    assert (status.fs_freeze_status, status.migration_method) == ("frozen", "BlockMigration")


PROBE = {"exec": {"command": ["true"]}}
A_SECRET = {"secret": {"secretName": "a"}}
BY_AGENT = {"qemuGuestAgent": {"users": ["jo"]}}
KEYS = {"sshPublicKey": {"source": A_SECRET, "propagationMethod": BY_AGENT}}
PASSWORD = {"userPassword": {"source": A_SECRET, "propagationMethod": {"qemuGuestAgent": {}}}}


@pytest.mark.parametrize(
    ("spec", "offered", "what"),
    [
        ({}, agent.BASIC, None),
        ({}, agent.BASIC - {"guest-get-users"}, "basic"),
        ({}, frozenset(), "basic"),
        ({}, None, None),
        ({"readinessProbe": PROBE}, agent.BASIC | {"guest-exec"}, "exec probe"),
        ({"livenessProbe": PROBE}, agent.BASIC, "exec probe"),
        ({"livenessProbe": PROBE}, agent.BASIC | agent.EXEC, None),
        ({"livenessProbe": {"guestAgentPing": {}}}, agent.BASIC, None),
        ({"accessCredentials": [KEYS]}, agent.BASIC, "public key"),
        ({"accessCredentials": [PASSWORD]}, agent.BASIC | agent.KEYS, "password"),
        ({"accessCredentials": [KEYS, PASSWORD], "readinessProbe": PROBE}, agent.JUDGED, None),
    ],
)
def test_an_agent_that_cannot_do_what_is_needed_is_told_of(
    spec: dict[str, Any], offered: frozenset[str] | None, what: str | None
) -> None:
    status = told(an_instance(**spec), has_agent=True, agent_commands=offered)
    reason = what and f"This guest agent doesn't support required {what} commands"
    expected = ("True", reason) if what else ("", None)
    assert condition(status, "AgentVersionNotSupported") == expected


def test_the_missing_commands_are_named_until_they_are_there() -> None:
    vmi = an_instance(livenessProbe=PROBE)
    status = told(vmi, has_agent=True, agent_commands=agent.BASIC)
    each = found(status.conditions, "AgentVersionNotSupported")
    assert each is not None
    assert "does not offer guest-exec, guest-exec-status; allow it" in (each.message or "")
    mended = told(replace(vmi, status=status), has_agent=True, agent_commands=agent.JUDGED)
    assert condition(mended, "AgentVersionNotSupported") == ("", None)


def test_a_guest_that_ended_is_neither_paused_nor_has_an_agent() -> None:
    before = told(an_instance(), "Paused", "User", has_agent=True, agent_commands=frozenset())
    assert condition(before, "AgentVersionNotSupported")[0] == "True"
    vmi = replace(an_instance(), status=before)
    after = told(vmi, "Shutoff", "Shutdown")
    assert condition(after, "Paused") == condition(after, "AgentConnected") == ("", None)
    assert condition(after, "AgentVersionNotSupported") == ("", None)
    assert after.machine == before.machine


def test_telling_twice_says_the_same() -> None:
    vmi = networked()
    first = told(vmi, cards=(Card(name="default", mac=MAC),))
    again = told(replace(vmi, status=first), cards=(Card(name="default", mac=MAC),))
    assert again == first


def test_a_masqueraded_guest_is_reached_at_its_pods_address() -> None:
    domain = DomainSeen(
        state="Running",
        cards=(Card(name="default", mac=MAC),),
        guest_cards=(
            Card(mac=MAC.upper(), addresses=("10.0.2.2",), guest_name="eth0"),
            Card(mac="aa:00:00:00:00:01", addresses=("172.17.0.1",), guest_name="docker0"),
        ),
    )
    seen = GuestSeen(domain=domain, pod_addresses=("10.1.0.7", "fd00::7"))
    first, second = guest.told(networked(), seen, EPOCH).interfaces
    assert (first.name, first.ip_address, first.interface_name) == ("default", "10.1.0.7", "eth0")
    assert first.ip_addresses == ("10.1.0.7", "fd00::7")
    assert first.info_source == "domain, guest-agent"
    assert (second.name, second.interface_name) == (None, "docker0")


def test_a_bridged_guest_is_reached_at_its_own_address() -> None:
    card = Card(name="default", mac=MAC)
    told_by_agent = (Card(mac=MAC, addresses=("10.1.0.9",)),)
    (interface,) = told(networked("bridge"), cards=(card,), guest_cards=told_by_agent).interfaces
    assert interface.ip_address == "10.1.0.9"


def test_a_bridged_guest_that_says_nothing_is_reached_at_the_address_it_was_given() -> None:
    domain = DomainSeen(state="Running", cards=(Card(name="default", mac=MAC),))
    seen = GuestSeen(domain=domain, pod_addresses=("10.1.0.7",))
    (interface,) = guest.told(networked("bridge"), seen, EPOCH).interfaces
    assert interface.ip_address == "10.1.0.7"


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({}, "LiveMigrationNotBuilt"),
        (
            {"volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "mine"}}]},
            "DisksNotLiveMigratable",
        ),
        (
            {"volumes": [{"name": "a", "dataVolume": {"name": "mine"}}]},
            "DisksNotLiveMigratable",
        ),
        (
            {"volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "ours"}}]},
            "LiveMigrationNotBuilt",
        ),
        (
            {"volumes": [{"name": "a", "hostDisk": {"path": "/x", "type": "Disk"}}]},
            "DisksNotLiveMigratable",
        ),
        (
            {
                "domain": {"devices": {"interfaces": [{"name": "a", "bridge": {}}]}},
                "networks": [{"name": "a", "pod": {}}],
            },
            "InterfaceNotLiveMigratable",
        ),
        (
            {"domain": {"devices": {"filesystems": [{"name": "a", "virtiofs": {}}]}}},
            "VirtIOFSNotLiveMigratable",
        ),
        (
            {"domain": {"devices": {"gpus": [{"name": "a", "deviceName": "b"}]}}},
            "HostDeviceNotLiveMigratable",
        ),
        (
            {"domain": {"devices": {}, "cpu": {"model": "host-passthrough"}}},
            "CPUModeLiveMigratable",
        ),
        ({"domain": {"devices": {}, "launchSecurity": {"sev": {}}}}, "SEVNotLiveMigratable"),
        ({"domain": {"devices": {}, "launchSecurity": {"tdx": {}}}}, "TDXNotLiveMigratable"),
    ],
)
def test_no_guest_says_that_it_could_move_and_each_says_what_ties_it_to_its_node(
    spec: dict[str, Any], reason: str
) -> None:
    verdict = migratable.of(an_instance(**spec), frozenset({"ours"}))
    assert verdict.reason == reason
    assert verdict.status == "False"
    assert verdict.message


def test_a_running_guest_says_that_neither_it_nor_its_disks_can_move() -> None:
    status = told(an_instance())
    for name in ("LiveMigratable", "StorageLiveMigratable"):
        assert condition(status, name) == ("False", "LiveMigrationNotBuilt")


def test_a_guest_whose_disks_are_shared_moves_without_them() -> None:
    volume = {"name": "a", "persistentVolumeClaim": {"claimName": "ours"}}
    assert migratable.method(an_instance(volumes=[volume]), frozenset({"ours"})) == "LiveMigration"
    assert migratable.method(an_instance(volumes=[volume]), frozenset()) == "BlockMigration"


def test_a_change_of_phase_is_told_in_kubevirts_words() -> None:
    assert guest.news(phases.SCHEDULED, phases.RUNNING) == happenings.STARTED
    assert guest.news(phases.RUNNING, phases.SUCCEEDED) == happenings.SHUT_DOWN
    assert guest.news(phases.RUNNING, phases.FAILED) == happenings.CRASHED
    assert guest.news(phases.RUNNING, phases.RUNNING) is None
    assert guest.news(phases.PENDING, phases.SCHEDULED) is None
