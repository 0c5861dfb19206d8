"""The machine around the processors: identity, memory, clocks, and the devices that are no disks or cards.

Two guests: `rich` has everything that can be asked for, `bare` nothing that can be left out.
"""

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.e2e.nouns.guests import ROOT, Disk, Guest, Spec, disk, refusal, running
from tests.e2e.standalone.driver import Machine

pytestmark = pytest.mark.timeout(300)

UUID = "5d307ca9-b3ef-428c-8861-06e72d69f223"
DAY_S = 86400
ZONE = "Asia/Kolkata"

PLACE = "0000:00:1c.0"

RICH = Spec(
    root=disk("root", ROOT, on={"pciAddress": PLACE}),
    disks=[Disk({"name": "drive", "cdrom": {"bus": "sata"}})],
    domain={
        "machine": {"type": "pc-q35-7.1"},
        "memory": {"guest": "96Mi"},
        "firmware": {
            "uuid": UUID,
            "serial": "machine-1",
            "bootloader": {"bios": {"useSerial": True}},
        },
        "chassis": {"asset": "asset-1", "serial": "chassis-1", "manufacturer": "Us"},
        "cpu": {
            "sockets": 2,
            "cores": 2,
            "model": "Nehalem",
            "features": [
                {"name": "aes"},
                {"name": "popcnt", "policy": "disable"},
                {"name": "movbe", "policy": "force"},
                {"name": "rdrand", "policy": "optional"},
                {"name": "x2apic", "policy": "optional"},
                {"name": "sse4.2", "policy": "forbid"},
            ],
        },
        "clock": {
            "utc": {"offsetSeconds": 10 * DAY_S},
            "timer": {
                "hpet": {"present": False},
                "pit": {"tickPolicy": "delay"},
                "rtc": {"tickPolicy": "catchup", "track": "guest"},
            },
        },
    },
    devices={
        "rng": {},
        "inputs": [
            {"name": "by-usb", "type": "tablet", "bus": "usb"},
            {"name": "by-virtio", "type": "tablet", "bus": "virtio"},
        ],
        "sound": {"name": "sound", "model": "ich9"},
        "watchdog": {"name": "watchdog", "i6300esb": {"action": "reset"}},
        "panicDevices": [{"model": "isa"}],
        "logSerialConsole": True,
    },
)

BARE = Spec(
    disks=[disk("data", {"emptyDisk": {"capacity": "4Mi"}}, serial="DATA")],
    domain={
        "memory": {"guest": "64M"},
        "cpu": {"threads": 2, "model": "Westmere"},
        "clock": {"timezone": ZONE},
    },
    devices={
        "autoattachGraphicsDevice": False,
        "autoattachMemBalloon": False,
        "logSerialConsole": False,
        "useVirtioTransitional": True,
        "sound": {"name": "sound", "model": "ac97"},
    },
)


@pytest.fixture(scope="module")
def rich(machine: Machine) -> Iterator[Guest]:
    with running(machine, RICH) as guest:
        yield guest


@pytest.fixture(scope="module")
def bare(machine: Machine) -> Iterator[Guest]:
    with running(machine, BARE) as guest:
        yield guest


def has_card(guest: Guest, identity: str) -> bool:
    """Whether `vendor:device` is on its PCI bus."""
    return guest.attempt(f"lspci | grep -q {identity}")[0] == 0


# Identity.


@pytest.mark.parametrize(
    ("file", "value"),
    [
        ("product_uuid", UUID),
        ("product_serial", "machine-1"),
        ("chassis_asset_tag", "asset-1"),
        ("chassis_serial", "chassis-1"),
        ("chassis_vendor", "Us"),
        ("sys_vendor", "KubeVirt"),
    ],
)
def test_smbios_shows_the_identity_of_the_manifest(rich: Guest, file: str, value: str) -> None:
    assert rich.read(f"/sys/class/dmi/id/{file}") == value


def test_the_machine_type_is_the_one_asked_for(rich: Guest, bare: Guest) -> None:
    assert rich.read("/sys/class/dmi/id/product_version") == "pc-q35-7.1"
    assert bare.read("/sys/class/dmi/id/product_version").startswith("pc-q35-")
    assert has_card(bare, "8086:29c0")  # the bridge of a q35


def test_a_machine_type_that_qemu_lacks_is_refused(machine: Machine) -> None:
    why = refusal(machine, Spec(domain={"machine": {"type": "pc-q35-99.0"}}))
    assert "machine type 'pc-q35-99.0'" in why


def test_a_device_is_at_the_place_on_the_bus_that_was_asked_for(rich: Guest) -> None:
    assert PLACE in rich.run("readlink /sys/block/vda")


def test_a_drive_may_be_without_a_disc(rich: Guest) -> None:
    code, shown = rich.attempt("sudo dd if=/dev/sr0 of=/dev/null count=1")
    assert code != 0
    assert "No medium found" in shown


# Processors.


def processors(guest: Guest, file: str) -> list[str]:
    return guest.lines(f"cat /sys/devices/system/cpu/cpu[0-9]*/topology/{file}")


def test_processors_have_the_sockets_that_were_asked_for(rich: Guest) -> None:
    assert processors(rich, "physical_package_id") == ["0", "0", "1", "1"]


def test_processors_have_the_cores_that_were_asked_for(rich: Guest) -> None:
    assert processors(rich, "core_id") == ["0", "1", "0", "1"]


def test_processors_have_the_threads_that_were_asked_for(bare: Guest) -> None:
    assert bare.run("nproc") == "2"
    assert set(processors(bare, "physical_package_id")) == {"0"}
    assert processors(bare, "thread_siblings_list") == ["0-1", "0-1"]


def test_the_processors_model_is_the_named_one(rich: Guest) -> None:
    assert "Nehalem" in rich.run("grep -m1 'model name' /proc/cpuinfo")


def test_features_of_the_processor_are_added_and_taken_away(rich: Guest) -> None:
    flags = rich.run("grep -m1 flags /proc/cpuinfo").split()
    assert "aes" in flags  # which a Nehalem has not
    assert "popcnt" not in flags  # which it has


def test_a_feature_that_is_forced_or_optional_is_there_if_it_can_be(rich: Guest) -> None:
    flags = rich.run("grep -m1 flags /proc/cpuinfo").split()
    assert {"movbe", "rdrand"} <= set(flags)  # which a Nehalem has not
    assert "x2apic" not in flags  # which emulation has not, and the guest runs all the same


def test_a_feature_that_is_forbidden_is_not_there(rich: Guest) -> None:
    """A node that has it should be refused; emulated processors are nobody's, and go without it."""
    flags = rich.run("grep -m1 flags /proc/cpuinfo").split()
    assert "sse4_1" in flags
    assert "sse4_2" not in flags  # which a Nehalem has


def test_a_processor_model_that_the_node_lacks_is_refused(machine: Machine) -> None:
    why = refusal(machine, Spec(domain={"cpu": {"model": "Abacus"}}))
    assert "the CPU model 'Abacus' is not offered by this node; use host-model" in why


# Memory.


@pytest.mark.parametrize(("name", "spec_bytes"), [("rich", 96 << 20), ("bare", 64_000_000)])
def test_memory_in_the_guest_fits_the_spec(
    request: pytest.FixtureRequest, name: str, spec_bytes: int
) -> None:
    guest: Guest = request.getfixturevalue(name)
    shown = guest.run("dmesg | grep -m1 -o '/[0-9]*K available'")
    seen = int(shown.strip("/").partition("K")[0]) << 10
    usable = int(guest.run("grep MemTotal /proc/meminfo").split()[1]) << 10
    # QEMU rounds up to whole MiB; firmware keeps some of the first one, the kernel its own size.
    assert -(1 << 20) <= seen - spec_bytes <= 1 << 20
    assert spec_bytes - (24 << 20) < usable < spec_bytes


def test_huge_pages_are_refused_where_the_machine_has_none(machine: Machine) -> None:
    sizes = Path("/sys/kernel/mm/hugepages").glob("hugepages-*/nr_hugepages")
    if any(int(file.read_text()) for file in sizes):
        pytest.skip("this machine has huge pages")
    memory = {"guest": "64Mi", "hugepages": {"pageSize": "2Mi"}}
    why = refusal(machine, Spec(domain={"memory": memory}))
    assert "huge pages of '2Mi' are not available on this node" in why
    assert "remove memory.hugepages" in why


# Time.


def test_the_clock_is_as_far_ahead_of_utc_as_it_says(rich: Guest) -> None:
    ahead = int(rich.run("date -u +%s")) - time.time()
    assert abs(ahead - 10 * DAY_S) < 60


def test_the_clock_shows_the_time_of_a_time_zone(bare: Guest) -> None:
    """A hardware clock has no zone; a guest that takes it for UTC is ahead by the zone's offset."""
    ahead = int(bare.run("date -u +%s")) - time.time()
    offset = datetime.now(ZoneInfo(ZONE)).utcoffset()
    assert offset is not None
    assert abs(ahead - offset.total_seconds()) < 60


def test_a_timer_can_be_taken_away(rich: Guest, bare: Guest) -> None:
    clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource"
    assert "hpet" not in rich.read(clocks)
    assert "hpet" in bare.read(clocks)


def test_timers_catch_up_as_the_spec_says(rich: Guest) -> None:
    (clock,) = rich.options("rtc")
    assert "clock=vm" in clock
    assert "driftfix=slew" in clock
    assert "kvm-pit.lost_tick_policy=delay" in rich.options("global")


# Devices.


def test_random_numbers_come_from_the_host(rich: Guest) -> None:
    assert rich.read("/sys/class/misc/hw_random/rng_current") == "virtio_rng.0"
    assert rich.run("sudo head -c 32 /dev/hwrng | wc -c") == "32"


def test_tablets_are_on_usb_and_virtio(rich: Guest) -> None:
    names = rich.run("grep Name /proc/bus/input/devices")
    assert "QEMU USB Tablet" in names
    assert "QEMU Virtio Tablet" in names


def test_there_is_a_screen_unless_it_is_switched_off(rich: Guest, bare: Guest) -> None:
    assert screens(rich) == ["Class 0300: 1234:1111"]  # VGA, if nothing is said
    assert screens(bare) == []
    assert "-vnc" in rich.words
    assert "-vnc" not in bare.words


@pytest.mark.parametrize(
    ("kind", "card"),
    [
        ("virtio", "Class 0300: 1af4:1050"),
        ("cirrus", "Class 0300: 1013:00b8"),
        ("bochs", "Class 0380: 1234:1111"),
    ],
)
def test_a_screen_is_of_the_type_asked_for(machine: Machine, kind: str, card: str) -> None:
    with running(machine, Spec(devices={"video": {"type": kind}})) as guest:
        assert screens(guest) == [card]


def screens(guest: Guest) -> list[str]:
    shown = guest.attempt("lspci | grep -o 'Class 03.*'")[1]
    return shown.splitlines()


def test_a_sound_card_is_of_the_model_asked_for(rich: Guest, bare: Guest) -> None:
    assert has_card(rich, "8086:293e")  # ich9
    assert has_card(bare, "8086:2415")  # ac97


def test_a_watchdog_is_found_by_its_driver(rich: Guest) -> None:
    assert "i6300ESB timer" in rich.run("dmesg | grep i6300")
    assert rich.run("ls /sys/class/watchdog") == "watchdog0"


def test_a_panic_device_is_in_the_guests_tables(rich: Guest, bare: Guest) -> None:
    """What it does is in test_endings."""
    assert rich.attempt("ls /sys/bus/acpi/devices | grep -q QEMU0001")[0] == 0
    assert bare.attempt("ls /sys/bus/acpi/devices | grep -q QEMU0001")[0] != 0


def test_there_is_a_balloon_unless_it_is_switched_off(rich: Guest, bare: Guest) -> None:
    assert has_card(rich, "1af4:1045")
    assert not has_card(bare, "1af4:1002")


def test_transitional_devices_are_those_that_old_drivers_know(rich: Guest, bare: Guest) -> None:
    old, new = "1af4:1001", "1af4:1042"
    assert has_card(bare, old)
    assert not has_card(bare, new)
    assert has_card(rich, new)
    assert bare.disk("DATA")  # and its driver finds it


def test_the_firmware_speaks_on_the_serial_console_if_it_is_told_to(rich: Guest) -> None:
    assert "SeaBIOS" in rich.booted


def test_the_serial_console_is_logged_from_the_first_byte(rich: Guest) -> None:
    rich.run("echo so that it can be found")
    log = (rich.folder / "private" / rich.folder.name / "virt-serial0-log").read_text()
    assert "login as 'cirros' user" in log
    assert "so that it can be found" in log


def test_the_serial_console_is_not_logged_if_that_is_switched_off(bare: Guest) -> None:
    folder = bare.folder / "private" / bare.folder.name
    assert (folder / "virt-serial0").is_socket()
    assert not (folder / "virt-serial0-log").exists()
