"""What a manifest can ask for, through the API into the guest: that which no other test of this folder asks for.

Three guests that boot side by side have all of it between them. Each noun by itself, in all its forms, is in tests/e2e/nouns,
where the launcher stands alone.
"""

import asyncio
import time
from pathlib import Path

import pytest
from tests.e2e.nouns.guests import ALPINE, Guest
from tests.e2e.vms.objects import MEMORY, Object, a_claim, a_disk, a_vm, of_claim
from tests.e2e.vms.place import LIMIT_S, Place

from clusterup import waiting
from kubevirt.api import scheme

MIB = 1 << 20
DAY_S = 86400
UUID = "5d307ca9-b3ef-428c-8861-06e72d69f223"
MAC = "02:00:5e:10:00:07"
KERNEL = "quay.io/kubevirt/alpine-ext-kernel-boot-demo:devel"
USER_DATA = "#cloud-config\nhostname: driven\n"
NETWORK_DATA = "version: 2\nethernets: {eth0: {addresses: [192.0.2.77/24]}}\n"
DHCP = {
    "bootFileName": "boot.efi",
    "tftpServerName": "tftp.example.com",
    "ntpServers": ["192.0.2.1", "192.0.2.2"],
    "privateOptions": [{"option": 240, "value": "of our own"}],
}
LEASED = {
    "bootfile": "boot.efi",
    "tftp": "tftp.example.com",
    "ntpsrv": "192.0.2.1 192.0.2.2",
    "opt240": b"of our own".hex(),
}
IN_BLOCK, IN_GROUND = "to the device", "this is ground"


def blank(mib: int) -> Object:
    return {"emptyDisk": {"capacity": f"{mib}Mi"}}


def a_config_map(name: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def rich() -> Object:
    """Disks on every bus, and a device of every kind."""
    volumes = [
        a_disk("seed", {"cloudInitConfigDrive": {"userData": USER_DATA}}),
        a_disk("answers", {"sysprep": {"configMap": {"name": "answers"}}}, cdrom={"bus": "sata"}),
        a_disk("papers", {"configMap": {"name": "papers"}}, cdrom={"bus": "scsi"}),
        a_disk("on-sata", blank(9), disk={"bus": "sata"}, serial="ONSATA"),
        a_disk("on-scsi", blank(10), disk={"bus": "scsi"}, serial="ONSCSI"),
        a_disk("on-usb", blank(11), disk={"bus": "usb"}, serial="ONUSB"),
        a_disk("above", {"ephemeral": of_claim("ground")}, serial="ABOVE"),
        a_disk("block", of_claim("block"), serial="BLOCK"),
    ]
    devices = {
        "interfaces": [
            {"name": "default", "masquerade": {}, "macAddress": MAC, "dhcpOptions": DHCP}
        ],
        "networkInterfaceMultiqueue": True,
        "rng": {},
        "sound": {"name": "sound", "model": "ich9"},
        "watchdog": {"name": "watchdog", "i6300esb": {"action": "reset"}},
        "inputs": [{"name": "pen", "type": "tablet", "bus": "usb"}],
        "logSerialConsole": True,
    }
    domain = {
        "firmware": {"uuid": UUID, "serial": "machine-1"},
        "cpu": {"sockets": 2, "cores": 1, "threads": 1},
        "clock": {"utc": {"offsetSeconds": 10 * DAY_S}, "timer": {"hpet": {"present": False}}},
        "resources": {"requests": {"memory": "96M"}},
    }
    guest = {"devices": devices, "domain": domain}
    return a_vm("rich", runStrategy="Always", guest=guest, volumes=volumes)


def other() -> Object:
    """With an address that it is told by cloud-init, on an old card, and nothing that is logged."""
    seed = {"cloudInitNoCloud": {"userData": USER_DATA, "networkData": NETWORK_DATA}}
    card = {"name": "default", "bridge": {}, "model": "e1000"}
    guest = {
        "devices": {"interfaces": [card], "logSerialConsole": False},
        "domain": {
            "cpu": {"cores": 1, "threads": 2, "model": "Westmere"},
            "resources": {"requests": {"memory": MEMORY}},
        },
    }
    return a_vm("other", runStrategy="Always", guest=guest, volumes=[a_disk("seed", seed)])


def diskless() -> Object:
    """A kernel and its first file system, from an image."""
    container = {
        "image": KERNEL,
        "kernelPath": "/boot/vmlinuz-virt",
        "initrdPath": "/boot/initramfs-virt",
    }
    boot = {"kernelArgs": "console=ttyS0 said=by-the-manifest", "container": container}
    domain = {
        "firmware": {"kernelBoot": boot},
        "resources": {"requests": {"memory": "96Mi"}},
    }
    vm = a_vm("diskless", runStrategy="Always", guest={"domain": domain})
    spec = vm["spec"]["template"]["spec"]
    spec["domain"]["devices"]["disks"] = spec["volumes"] = []
    return vm


def a_writer(claim: str) -> Object:
    """A pod that leaves a disk in a claim."""
    script = (
        f"(echo {IN_GROUND}; head -c {4 * MIB} /dev/zero) >/data/disk.img; chmod 666 /data/disk.img"
    )
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "writer"},
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "main",
                    "image": "kubevirt.io/built-in",
                    "command": ["sh", "-c", script],
                    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                }
            ],
            "volumes": [{"name": "data", **of_claim(claim)}],
        },
    }


@pytest.mark.timeout(900)
async def test_a_guest_has_what_its_manifest_asks_for(place: Place) -> None:
    await place.create(
        a_config_map("answers", **{"autounattend.xml": "<unattend>for Windows</unattend>"}),
        a_config_map("papers", where="on scsi"),
        a_claim("ground"),
        a_claim("block", volumeMode="Block"),
        a_writer("ground"),
    )
    await place.create(other(), diskless())
    await place.until("writer", _has_succeeded, "done", kind="Pod")
    await place.create(rich())
    for name in ("rich", "other", "diskless"):
        await place.until_phase(name, "Running")
    async with asyncio.TaskGroup() as tasks:
        for look in (_look_into_the_rich, _look_into_the_other, _look_into_the_diskless):
            tasks.create_task(asyncio.to_thread(look, place))
    ground, block = await _volume(place, "ground"), await _volume(place, "block")
    assert _begins(ground / "disk.img") == IN_GROUND, (
        "what is below an ephemeral disk never changes"
    )
    assert _begins(block) == IN_BLOCK
    await _the_console_is_logged(place)


def _has_succeeded(pod: Object) -> bool:
    return bool(pod.get("status", {}).get("phase") == "Succeeded")


def _look_into_the_rich(place: Place) -> None:
    with place.console("rich") as guest:
        guest.log_in()
        assert guest.run("hostname") == "driven"
        _check_disks(guest)
        _check_contents(guest)
        _check_card(guest)
        _check_machine(guest)
        _check_devices(guest)
        guest.run("echo so that it can be found")


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


def _check_machine(guest: Guest) -> None:
    assert guest.read("/sys/class/dmi/id/product_uuid") == UUID
    assert guest.read("/sys/class/dmi/id/product_serial") == "machine-1"
    assert _processors(guest, "physical_package_id") == ["0", "1"]
    assert abs(int(guest.run("date -u +%s")) - time.time() - 10 * DAY_S) < 60
    clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource"
    assert "hpet" not in guest.read(clocks)


def _check_devices(guest: Guest) -> None:
    assert guest.read("/sys/class/misc/hw_random/rng_current") == "virtio_rng.0"
    assert guest.run("sudo head -c 32 /dev/hwrng | wc -c") == "32"
    assert "QEMU USB Tablet" in guest.run("grep Name /proc/bus/input/devices")
    assert guest.attempt("lspci | grep -q 8086:293e")[0] == 0, "its sound card, an ich9"
    assert guest.run("ls /sys/class/watchdog") == "watchdog0"


def _processors(guest: Guest, file: str) -> list[str]:
    return guest.lines(f"cat /sys/devices/system/cpu/cpu[0-9]*/topology/{file}")


def _look_into_the_other(place: Place) -> None:
    with place.console("other") as guest:
        guest.log_in()
        assert "192.0.2.77/24" in guest.run("ip -4 -o addr show dev eth0")
        driver = "basename $(readlink -f /sys/class/net/eth0/device/driver)"
        assert guest.run(driver) == "e1000"
        assert "Westmere" in guest.run("grep -m1 'model name' /proc/cpuinfo")
        assert _processors(guest, "thread_siblings_list") == ["0-1", "0-1"]


def _look_into_the_diskless(place: Place) -> None:
    with place.console("diskless") as guest:
        guest.log_in(ALPINE)
        assert guest.run("ls /sys/block | wc -l") == "0"
        assert "said=by-the-manifest" in guest.read("/proc/cmdline").split()


async def _the_console_is_logged(place: Place) -> None:
    """From the first byte, for whoever may read logs of pods, and only where that is wanted."""
    pod = (await place.pod("rich"))["metadata"]["name"]

    async def is_logged() -> bool:
        said = place.kubectl("logs", pod, "--container=guest-console-log").out
        return "login as 'cirros' user" in said and "so that it can be found" in said

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
