"""What a manifest can ask for, through the API into the guest: that which no other test of this folder asks for.

Three guests that boot side by side (`rich.py`) have it between them; what a guest cannot see of it stands on its QEMU's
command line. Each noun by itself, in all its forms, is in tests/e2e/nouns, where the launcher stands alone; what no guest has
here is the second table of docs/domain.md.
"""

import asyncio
import json
import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.e2e.nouns.guests import ALPINE, Guest
from tests.e2e.nouns.test_disks import threads_by_disk
from tests.e2e.vms.objects import Object, a_vm
from tests.e2e.vms.place import LIMIT_S, Place
from tests.e2e.vms.rich import (
    DAY_S,
    FIRST,
    IN_BLOCK,
    IN_GROUND,
    LEASED,
    MAC,
    UUID,
    ZONE,
    a_writer,
    beside,
    diskless,
    other,
    rich,
)

from clusterup import waiting
from kubevirt.api import scheme

MIB = 1 << 20
HUGE = "{.items[*].status.allocatable.hugepages-2Mi}"


@pytest.mark.timeout(900)
async def test_a_guest_has_what_its_manifest_asks_for(place: Place) -> None:
    await place.create(*beside(), a_writer())
    await place.create(other(), diskless())
    await place.until("writer", _has_succeeded, "done", kind="Pod")
    await place.create(rich())
    pods = {}
    for name in LOOKS:
        await place.until_phase(name, "Running")
        pods[name] = await place.pod(name)
    assert pods["rich"]["spec"]["imagePullSecrets"] == [{"name": "pull"}]
    async with asyncio.TaskGroup() as tasks:
        for name, look in LOOKS.items():
            tasks.create_task(asyncio.to_thread(_looked, look, place, name, pods[name]))
    ground, block = await _volume(place, "ground"), await _volume(place, "block")
    assert _begins(ground / "disk.img") == IN_GROUND, (
        "what is below an ephemeral disk never changes"
    )
    assert _begins(block) == IN_BLOCK
    await _the_console_is_logged(place)


def _has_succeeded(pod: Object) -> bool:
    return bool(pod.get("status", {}).get("phase") == "Succeeded")


def _looked(look: Callable[[Guest], None], place: Place, name: str, pod: Object) -> None:
    with place.console(name) as guest:
        guest.folder = Path(pod["metadata"]["uid"])  # in a path that only its QEMU sees
        look(guest)


def _look_into_the_rich(guest: Guest) -> None:
    guest.log_in()
    assert guest.run("hostname") == "driven"
    _check_disks(guest)
    _check_how_disks_are_served(guest)
    _check_contents(guest)
    _check_card(guest)
    _check_machine(guest)
    _check_devices(guest)
    guest.run("echo and this is to be found")


def _check_disks(guest: Guest) -> None:
    for serial, mib, way in (
        ("ONSATA", 9, "/ata"),
        ("ONSCSI", 10, "virtio"),
        ("ONUSB", 11, "/usb"),
    ):
        name = guest.disk(serial)
        assert name.startswith("sd"), name
        assert int(guest.read(f"/sys/block/{name}/size")) * 512 == mib * MIB
        assert way in guest.run(f"readlink /sys/block/{name}")
    for serial, text in (("ABOVE", "only for now"), ("BLOCK", IN_BLOCK)):
        guest.run(
            f"echo {text} | sudo dd of=/dev/{guest.disk(serial)} conv=notrunc 2>/dev/null; sync"
        )
        assert guest.run(f"sudo head -n 1 /dev/{guest.disk(serial)}") == text
    guest.run(f"echo from one | sudo dd of=/dev/{guest.disk('ONE')} conv=sync 2>/dev/null; sync")
    assert "from one" in guest.run(f"sudo head -c 16 /dev/{guest.disk('TWO')} | tr -d '\\0'")


def _check_how_disks_are_served(guest: Guest) -> None:
    first, second = (guest.devices(bootindex=number) for number in (1, 2))
    assert [each["id"] for each in (*first, *second)] == ["ua-first", "ua-root"]
    for serial, cache, aio in (("PAST", "back", "native"), ("THROUGH", "through", "threads")):
        block = guest.storage(f"{serial.lower()}.qcow2")
        assert guest.read(f"{_block(guest, serial)}/queue/write_cache") == f"write {cache}"
        assert (block["cache"]["direct"], block["aio"]) == (serial == "PAST", aio)
    assert guest.read(f"{_block(guest, 'LOCKED')}/ro") == "1"
    queue = f"{_block(guest, 'LARGE')}/queue"
    sizes = [guest.read(f"{queue}/{kind}_block_size") for kind in ("logical", "physical")]
    assert sizes == ["4096", "8192"]
    assert guest.run(f"ls {_block(guest, 'OWN')}/mq | wc -l") == "2"
    served = threads_by_disk(guest)
    own = served.pop("ua-own-thread")
    assert len(own) == 1
    assert not own & set().union(*served.values())
    _check_discarding(guest, guest.disk("PAST"))


def _block(guest: Guest, serial: str) -> str:
    return f"/sys/block/{guest.disk(serial)}"


def _check_discarding(guest: Guest, disk: str) -> None:
    file = Path(f"/proc/{guest.qemu}/root{guest.storage('past.qcow2')['filename']}")
    guest.run(f"sudo dd if=/dev/urandom of=/dev/{disk} bs=1M count=6 2>/dev/null; sync")
    full = file.stat().st_blocks * 512
    assert full > 6 * MIB
    guest.run(f"sudo blkdiscard /dev/{disk}; sync")
    assert file.stat().st_blocks * 512 < full - 5 * MIB


def _check_contents(guest: Guest) -> None:
    found = {
        "/ata" if "/ata" in link else "scsi": Path(link).name
        for link in guest.lines("for d in /sys/block/sr*; do readlink $d; done")
    }
    answers = guest.on_disc(found["/ata"], "autounattend.xml")
    assert answers.lower() == "<unattend>for windows</unattend>"
    assert guest.on_disc(found["scsi"], "where") == "on scsi"


def _check_card(guest: Guest) -> None:
    assert guest.read("/sys/class/net/eth0/address") == MAC
    assert guest.run("ls /sys/class/net/eth0/queues").split() == ["rx-0", "rx-1", "tx-0", "tx-1"]
    for name, value in LEASED.items():
        assert guest.run(f"grep -h ^{name}= /run/leases/*") == f"{name}={value}"
    words = ("nsenter", f"--target={guest.qemu}", "--net", "ip", "-json", "link", "show", "eth0")
    (link,) = json.loads(subprocess.run(words, capture_output=True, check=True, timeout=60).stdout)
    assert guest.read("/sys/class/net/eth0/mtu") == str(link["mtu"])


def _check_machine(guest: Guest) -> None:
    assert guest.read("/sys/class/dmi/id/product_uuid") == UUID
    assert guest.read("/sys/class/dmi/id/product_serial") == "machine-1"
    assert guest.read("/sys/class/dmi/id/chassis_asset_tag") == "asset-1"
    assert "Nehalem" in guest.run("grep -m1 'model name' /proc/cpuinfo")
    flags = guest.run("grep -m1 flags /proc/cpuinfo").split()
    assert ("aes" in flags, "popcnt" in flags) == (True, False), "a Nehalem has only the other"
    assert _processors(guest, "physical_package_id") == ["0", "1"]
    assert abs(int(guest.run("date -u +%s")) - time.time() - 10 * DAY_S) < 60
    clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource"
    assert "hpet" not in guest.read(clocks)


def _check_devices(guest: Guest) -> None:
    assert guest.read("/sys/class/misc/hw_random/rng_current") == "virtio_rng.0"
    assert guest.run("sudo head -c 32 /dev/hwrng | wc -c") == "32"
    pens = guest.run("grep Name /proc/bus/input/devices")
    assert "QEMU USB Tablet" in pens
    assert "QEMU Virtio Tablet" in pens
    assert _has_card(guest, "8086:293e"), "its sound card, an ich9"
    assert guest.run("ls /sys/class/watchdog") == "watchdog0"
    assert _bites_with(guest) == "reset"
    assert guest.devices(driver="bochs-display"), "its screen"
    assert "-vnc" in guest.words


def _bites_with(guest: Guest) -> str:
    """What its watchdog does, in the words of an older QEMU or a newer one."""
    (action,) = [*guest.options("watchdog-action"), *guest.options("action")]
    return action.rpartition("=")[2]


def _has_card(guest: Guest, identity: str) -> bool:
    """Whether `vendor:device` is on its PCI bus."""
    return guest.attempt(f"lspci | grep -q {identity}")[0] == 0


def _processors(guest: Guest, file: str) -> list[str]:
    return guest.lines(f"cat /sys/devices/system/cpu/cpu[0-9]*/topology/{file}")


def _look_into_the_other(guest: Guest) -> None:
    guest.log_in()
    assert guest.run("hostname") == "driven"
    assert "192.0.2.77/24" in guest.run("ip -4 -o addr show dev eth0")
    driver = "basename $(readlink -f /sys/class/net/eth0/device/driver)"
    assert guest.run(driver) == "e1000"
    assert "Westmere" in guest.run("grep -m1 'model name' /proc/cpuinfo")
    assert _processors(guest, "thread_siblings_list") == ["0-1", "0-1"]
    assert "-vnc" not in guest.words
    assert not _has_card(guest, "1234:1111"), "nor a screen"
    assert not [each for each in guest.devices() if "balloon" in each["driver"]]
    assert _has_card(guest, "1af4:1001"), "the disk that old drivers know"
    assert not _has_card(guest, "1af4:1042"), "nor that of today"
    assert _has_card(guest, "8086:2415"), "its sound card, an ac97"
    assert _bites_with(guest) == "poweroff"
    offset = datetime.now(ZoneInfo(ZONE)).utcoffset()
    assert offset is not None
    ahead = int(guest.run("date -u +%s")) - time.time()
    assert abs(ahead - offset.total_seconds()) < 60
    assert "driftfix=slew" in guest.options("rtc")[0]


def _look_into_the_diskless(guest: Guest) -> None:
    guest.log_in(ALPINE)
    assert guest.run("ls /sys/block | wc -l") == "0"
    assert "said=by-the-manifest" in guest.read("/proc/cmdline").split()
    assert guest.devices(driver="rtl8139")
    assert guest.options("cpu")[0].partition(",")[0] in {"host", "max"}


LOOKS: Mapping[str, Callable[[Guest], None]] = {
    "rich": _look_into_the_rich,
    "other": _look_into_the_other,
    "diskless": _look_into_the_diskless,
}


async def _the_console_is_logged(place: Place) -> None:
    """From the first byte, for whoever may read logs of pods, and only where that is wanted."""
    pod = (await place.pod("rich"))["metadata"]["name"]

    async def is_logged() -> bool:
        said = place.kubectl("logs", pod, "--container=guest-console-log").out
        return all(each in said for each in (FIRST, "login as 'cirros' user", "to be found"))

    await waiting.until(is_logged, limit_s=LIMIT_S, what="the console is logged")
    containers = (await place.pod("other"))["spec"]["containers"]
    assert "guest-console-log" not in {each["name"] for each in containers}


async def _volume(place: Place, claim: str) -> Path:
    """Where the home has it."""
    found = await place.client.get(scheme.PERSISTENT_VOLUME_CLAIMS.raw, claim, place.namespace)
    name = found["spec"]["volumeName"]
    volume = await place.client.get(scheme.PERSISTENT_VOLUMES.raw, name)
    return Path(volume["spec"]["local"]["path"])


def _begins(file: Path) -> str:
    with file.open("rb") as data:
        return data.readline(64).decode().rstrip("\n")


async def test_a_machine_on_huge_pages_waits_for_a_node_that_has_some(place: Place) -> None:
    if place.kubectl("get", "nodes", f"--output=jsonpath={HUGE}").out.strip("0 "):
        pytest.skip("this machine has huge pages")
    memory = {"guest": "64Mi", "hugepages": {"pageSize": "2Mi"}}
    guest = {"domain": {"memory": memory, "resources": {}}}
    await place.create(a_vm("huge", runStrategy="Always", guest=guest))
    await place.until_status("huge", "ErrorUnschedulable")
    vm = await place.vm("huge")
    (why,) = [each for each in vm["status"]["conditions"] if each["type"] == "PodScheduled"]
    assert "Insufficient hugepages-2Mi" in why["message"]


async def test_who_logs_a_console_ends_when_it_is_asked(place: Place) -> None:
    """It had to be killed when all the time of its pod was over: half a minute, for which the guest was not gone."""
    devices = {"logSerialConsole": True}
    await place.create(
        a_vm(runStrategy="Always", guest={"devices": devices, "startStrategy": "Paused"})
    )
    await place.until_status("testvm", "Paused")
    pod = (await place.pod("testvm"))["metadata"]["name"]
    async with asyncio.TaskGroup() as tasks:
        seen = tasks.create_task(place.until(pod, _has_logger_ended, "at its end", kind="Pod"))
        await place.delete("testvm")
    assert _logger(seen.result())["state"]["terminated"]["exitCode"] == 0


def _logger(pod: Object) -> Object:
    statuses = pod.get("status", {}).get("initContainerStatuses", ())
    return next((each for each in statuses if each["name"] == "guest-console-log"), {"state": {}})


def _has_logger_ended(pod: Object) -> bool:
    return "terminated" in _logger(pod)["state"]
