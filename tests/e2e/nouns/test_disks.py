"""Disks as the guest sees them: bus, identity, order of booting, caches, sizes, rights."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from tests.e2e.nouns.guests import ROOT, Disk, Guest, Spec, disk, refusal, running
from tests.e2e.standalone.driver import Machine

pytestmark = pytest.mark.timeout(300)

MIB = 1 << 20


def blank(mib: int) -> dict[str, object]:
    return {"emptyDisk": {"capacity": f"{mib}Mi"}}


def disc(name: str) -> dict[str, object]:
    return {"configMap": {"name": name}}


DISCS = [
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"where": f"on {name}"},
    }
    for name in ("sata", "scsi", "usb")
]

SPEC = Spec(
    root=disk("root", ROOT, bootOrder=2),
    disks=[
        disk("hello", {"persistentVolumeClaim": {"claimName": "hello"}}, bootOrder=1),
        disk("on-virtio", blank(8), serial="ONVIRTIO"),
        disk("on-sata", blank(9), bus="sata", serial="ONSATA"),
        disk("on-scsi", blank(10), bus="scsi", serial="ONSCSI"),
        disk("on-usb", blank(11), bus="usb", serial="ONUSB"),
        disk("cd-sata", disc("sata"), bus="sata", kind="cdrom"),
        disk("cd-scsi", disc("scsi"), bus="scsi", kind="cdrom"),
        disk("cd-usb", disc("usb"), bus="usb", kind="cdrom", serial="CDUSB"),
        disk("through", blank(12), serial="THROUGH", cache="writethrough"),
        disk("back", blank(13), serial="BACK", cache="writeback", io="threads"),
        disk("past", blank(14), serial="PAST", cache="none", io="native"),
        disk("locked", blank(15), serial="LOCKED", on={"readonly": True}),
        disk(
            "large-blocks",
            blank(16),
            serial="LARGE",
            blockSize={"custom": {"logical": 4096, "physical": 8192}},
        ),
        disk("one", {"persistentVolumeClaim": {"claimName": "both"}}, shareable=True, serial="ONE"),
        disk(
            "other",
            {"persistentVolumeClaim": {"claimName": "both"}},
            shareable=True,
            serial="OTHER",
        ),
        disk("own-thread", blank(17), serial="OWN", dedicatedIOThread=True),
    ],
    beside=DISCS,
    domain={"cpu": {"cores": 2}, "ioThreadsPolicy": "auto"},
    devices={"blockMultiQueue": True},
)


def boot_sector(words: str) -> bytes:
    """Moves out of the way, says the words on the serial port, and boots the second disk."""
    move = "31c0 8ed8 8ec0 8ed0 bc007c be007c bf0006 b90001 fc f3a5 ea1c060000"
    say = "be4606 31d2 b8e300 cd14 ac 84c0 7406 b401 cd14 ebf5"
    boot = "b80102 bb007c b90100 ba8100 cd13 b281 ea007c0000"
    code = bytes.fromhex(move + say + boot)
    return (code + words.encode() + b"\r\n\0").ljust(510, b"\0") + b"\x55\xaa"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("disks")
    (folder / "hello.img").write_bytes(boot_sector("the first disk was asked first").ljust(MIB))
    (folder / "both.img").write_bytes(bytes(MIB))
    return folder


@pytest.fixture(scope="module")
def guest(machine: Machine, folder: Path) -> Iterator[Guest]:
    volumes = {name: folder / f"{name}.img" for name in ("hello", "both")}
    with running(machine, SPEC, volumes) as guest:
        yield guest


# Buses.


@pytest.mark.parametrize(
    ("serial", "mib", "way"),
    [
        ("ONVIRTIO", 8, "virtio"),
        ("ONSATA", 9, "/ata"),
        ("ONSCSI", 10, "virtio"),
        ("ONUSB", 11, "/usb"),
    ],
)
def test_a_disk_is_on_the_bus_that_was_asked_for(
    guest: Guest, serial: str, mib: int, way: str
) -> None:
    name = guest.disk(serial)
    assert int(guest.read(f"/sys/block/{name}/size")) * 512 == mib * MIB
    assert way in guest.run(f"readlink /sys/block/{name}")
    assert name.startswith("vd" if serial == "ONVIRTIO" else "sd")


def test_a_disc_on_sata_is_in_a_cdrom_drive(guest: Guest) -> None:
    assert guest.on_disc(drive_on(guest, "/ata"), "where") == "on sata"


def test_a_disc_on_scsi_is_in_a_cdrom_drive(guest: Guest) -> None:
    assert guest.on_disc(drive_on(guest, "/virtio"), "where") == "on scsi"


def test_a_disc_on_usb_is_readable_and_cannot_be_written(guest: Guest) -> None:
    """For it libvirt has only usb-storage, which shows every image as a disk."""
    name = guest.disk("CDUSB")
    assert guest.on_disc(name, "where") == "on usb"
    assert guest.read(f"/sys/block/{name}/ro") == "1"


def test_a_cdrom_on_virtio_is_refused_with_the_buses_that_work(machine: Machine) -> None:
    spec = Spec(disks=[disk("cd", disc("sata"), kind="cdrom")], beside=DISCS)
    why = refusal(machine, spec)
    assert "virtio is invalid for CD-ROM" in why
    assert "sata, scsi, usb" in why


def drive_on(guest: Guest, way: str) -> str:
    """Name of the one CD-ROM drive on that path."""
    links = guest.lines("for d in /sys/block/sr*; do readlink $d; done")
    (found,) = [link for link in links if way in link]
    return Path(found).name


# What a disk says of itself.


def test_the_serial_number_is_the_one_of_the_manifest(guest: Guest) -> None:
    assert guest.read("/sys/block/vdc/serial") == "ONVIRTIO"


def test_the_disk_with_the_lowest_boot_order_is_booted_first(guest: Guest) -> None:
    before_linux, _, _ = guest.booted.partition("login as 'cirros' user")
    assert "the first disk was asked first" in before_linux


def test_cache_writethrough_needs_no_flush_in_the_guest(guest: Guest) -> None:
    assert cache_in(guest, "THROUGH") == "write through"
    assert guest.storage("through.qcow2")["cache"]["direct"] is False


def test_cache_writeback_is_flushed_by_the_guest(guest: Guest) -> None:
    assert cache_in(guest, "BACK") == "write back"
    assert guest.storage("back.qcow2")["cache"]["direct"] is False


def test_cache_none_goes_past_the_hosts_cache(guest: Guest) -> None:
    assert cache_in(guest, "PAST") == "write back"
    assert guest.storage("past.qcow2")["cache"]["direct"] is True


def cache_in(guest: Guest, serial: str) -> str:
    return guest.read(f"/sys/block/{guest.disk(serial)}/queue/write_cache")


def test_native_io_and_io_by_threads_are_as_asked_for(guest: Guest) -> None:
    assert guest.storage("past.qcow2")["aio"] == "native"
    assert guest.storage("back.qcow2")["aio"] == "threads"
    for serial in ("PAST", "BACK"):
        name = guest.disk(serial)
        assert (
            guest.run(f"echo {serial} | sudo dd of=/dev/{name} conv=sync 2>/dev/null; sync") == ""
        )
        assert serial in guest.run(f"sudo head -c 16 /dev/{name} | tr -d '\\0'")


def test_space_that_the_guest_discards_is_given_back(guest: Guest) -> None:
    name = guest.disk("ONVIRTIO")
    file = guest.folder.parents[1] / "disks" / guest.folder.name / "empty-disks/on-virtio.qcow2"
    guest.run(f"sudo dd if=/dev/urandom of=/dev/{name} bs=1M count=6 2>/dev/null; sync")
    full = file.stat().st_blocks * 512
    guest.run(f"sudo blkdiscard /dev/{name}; sync")
    assert full > 6 * MIB
    assert file.stat().st_blocks * 512 < full - 5 * MIB


def test_a_shareable_disk_can_be_open_twice(guest: Guest) -> None:
    guest.run(f"echo from one | sudo dd of=/dev/{guest.disk('ONE')} conv=sync 2>/dev/null; sync")
    assert "from one" in guest.run(f"sudo head -c 16 /dev/{guest.disk('OTHER')} | tr -d '\\0'")


def test_a_disk_that_is_not_shareable_is_refused_to_a_second_user(
    machine: Machine, folder: Path
) -> None:
    claim = {"persistentVolumeClaim": {"claimName": "both"}}
    spec = Spec(disks=[disk("one", claim), disk("other", claim)])
    copy = folder / "copy.img"
    copy.write_bytes(bytes(MIB))
    assert "lock" in refusal(machine, spec, {"both": copy})


def test_a_read_only_disk_refuses_to_be_written(guest: Guest) -> None:
    name = guest.disk("LOCKED")
    assert guest.read(f"/sys/block/{name}/ro") == "1"
    code, _ = guest.attempt(f"echo x | sudo dd of=/dev/{name} 2>/dev/null")
    assert code != 0


def test_block_sizes_are_those_of_the_manifest(guest: Guest) -> None:
    queue = f"/sys/block/{guest.disk('LARGE')}/queue"
    assert guest.read(f"{queue}/logical_block_size") == "4096"
    assert guest.read(f"{queue}/physical_block_size") == "8192"


# How they are served.


def test_a_disk_has_a_queue_for_each_processor(guest: Guest) -> None:
    assert guest.run(f"ls /sys/block/{guest.disk('OWN')}/mq | wc -l") == "2"


def test_disks_are_served_by_io_threads_and_one_has_its_own(guest: Guest) -> None:
    served = threads_by_disk(guest)
    own = served.pop("ua-own-thread")
    others = set().union(*served.values())
    assert len(own) == 1
    assert all(served.values())
    assert not own & others
    assert io_threads(guest) == own | others
    assert keeps_what_is_written(guest, "OWN")


SOME: Mapping[str, Sequence[Disk]] = {
    name: [
        disk(f"{name}-{number}", blank(8), serial=f"{name.upper()}{number}") for number in range(3)
    ]
    for name in ("shared", "pool")
}


def test_disks_share_one_io_thread_but_for_the_one_that_has_its_own(machine: Machine) -> None:
    own = disk("own-thread", blank(8), serial="OWN", dedicatedIOThread=True)
    spec = Spec(disks=[*SOME["shared"], own], domain={"ioThreadsPolicy": "shared"})
    with running(machine, spec) as guest:
        served = threads_by_disk(guest)
        alone = served.pop("ua-own-thread")
        assert len(served) == 4  # with the one that it boots from
        (shared,) = {frozenset(threads) for threads in served.values()}
        assert len(shared) == len(alone) == 1
        assert io_threads(guest) == shared | alone
        assert shared != alone
        for serial in ("SHARED0", "SHARED1", "SHARED2", "OWN"):
            assert keeps_what_is_written(guest, serial)


def test_disks_are_served_by_a_pool_of_io_threads(machine: Machine) -> None:
    pool = {"ioThreadsPolicy": "supplementalPool", "ioThreads": {"supplementalPoolThreadCount": 2}}
    with running(machine, Spec(disks=SOME["pool"], domain=pool)) as guest:
        served = threads_by_disk(guest)
        assert len(served) == 4
        assert all(served.values())
        assert len(set().union(*served.values())) == 2
        assert io_threads(guest) == set().union(*served.values())
        for serial in ("POOL0", "POOL1", "POOL2"):
            assert keeps_what_is_written(guest, serial)


def io_threads(guest: Guest) -> set[str]:
    """Those that QEMU really has."""
    tasks = Path(f"/proc/{guest.qemu}/task").iterdir()
    names = [(task / "comm").read_text().strip() for task in tasks]
    return {name.removeprefix("IO ") for name in names if name.startswith("IO iothread")}


def threads_by_disk(guest: Guest) -> dict[str, set[str]]:
    """By which of them each virtio disk is served: one, or since QEMU 9 all that it is mapped to."""
    disks = [each for each in guest.devices() if each["driver"].startswith("virtio-blk")]
    return {
        each["id"]: {
            *([each["iothread"]] if "iothread" in each else []),
            *(one["iothread"] for one in each.get("iothread-vq-mapping", ())),
        }
        for each in disks
    }


def keeps_what_is_written(guest: Guest, serial: str) -> bool:
    name = f"/dev/{guest.disk(serial)}"
    direct = "bs=4096 count=1 2>/dev/null"
    guest.run(f"echo to {serial} | sudo dd of={name} {direct} conv=sync,fsync")
    guest.run("sudo sh -c 'echo 3 > /proc/sys/vm/drop_caches'")
    return f"to {serial}" in guest.run(f"sudo dd if={name} {direct} | head -n 1 | tr -d '\\0'")
