"""Volumes: what stands behind a disk, and what the guest reads from it or leaves in it."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.nouns.guests import Guest, Object, Spec, disk, new_uid, running
from tests.e2e.standalone.driver import Machine

pytestmark = pytest.mark.timeout(300)

MIB = 1 << 20


def claim(name: str, **more: object) -> Object:
    return {"persistentVolumeClaim": {"claimName": name, **more}}


BLOCK = disk("block", claim("block"), serial="BLOCK", blockSize={"matchVolume": {}})


def beside(kind: str, name: str, **data: str) -> Object:
    field = "stringData" if kind == "Secret" else "data"
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, field: data}


def spec(folder: Path, *, has_block: bool) -> Spec:
    ground = {"ephemeral": {"persistentVolumeClaim": {"claimName": "ground"}}}
    made = {"path": str(folder / "made.img"), "type": "DiskOrCreate", "capacity": "5Mi"}
    label = {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}
    return Spec(
        disks=[
            disk("blank", {"emptyDisk": {"capacity": "7Mi"}}, serial="BLANK"),
            disk("above", ground, serial="ABOVE"),
            disk("file", claim("file"), serial="FILE"),
            disk("locked", claim("locked", readOnly=True), serial="LOCKED"),
            *([BLOCK] if has_block else []),
            disk(
                "there",
                {"hostDisk": {"path": str(folder / "there.img"), "type": "Disk"}},
                serial="THERE",
            ),
            disk("made", {"hostDisk": made}, serial="MADE"),
            disk("settings", {"configMap": {"name": "settings"}}, serial="SETTINGS"),
            disk("keys", {"secret": {"secretName": "keys", "volumeLabel": "keys"}}, serial="KEYS"),
            disk("facts", {"downwardAPI": {"fields": [label]}}, serial="FACTS"),
            disk(
                "answers", {"sysprep": {"configMap": {"name": "answers"}}}, bus="sata", kind="cdrom"
            ),
        ],
        metadata={"labels": {"colour": "green"}},
        beside=[
            beside("ConfigMap", "settings", colour="from a ConfigMap"),
            beside("Secret", "keys", key="from a Secret"),
            beside(
                "ConfigMap", "answers", **{"autounattend.xml": "<unattend>for Windows</unattend>"}
            ),
        ],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("volumes")
    for name in ("ground", "file", "locked", "block", "there"):
        (folder / f"{name}.img").write_bytes(f"this is {name}\n".encode().ljust(4 * MIB, b"\0"))
    # Claims are lent to the guest; a host disk is its owner's affair.
    (folder / "there.img").chmod(0o666)
    return folder


@pytest.fixture(scope="module")
def loop_device(folder: Path) -> Iterator[Path | str]:
    """Or why there is none; the other volumes need no such thing."""
    made = subprocess.run(
        ["losetup", "--find", "--show", "--sector-size", "4096", folder / "block.img"],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        yield f"no loop device: {made.stderr.strip()}"
        return
    device = made.stdout.strip()
    try:
        yield Path(device)
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


@pytest.fixture
def block_device(loop_device: Path | str) -> Path:
    if isinstance(loop_device, str):
        pytest.skip(loop_device)
    return loop_device


@pytest.fixture(scope="module")
def guest(machine: Machine, folder: Path, loop_device: Path | str) -> Iterator[Guest]:
    claims = {name: folder / f"{name}.img" for name in ("ground", "file", "locked")}
    if isinstance(loop_device, Path):
        claims["block"] = loop_device
    with running(machine, spec(folder, has_block="block" in claims), claims) as guest:
        yield guest


def first_line(guest: Guest, serial: str) -> str:
    return guest.run(f"sudo head -n 1 /dev/{guest.disk(serial)} | head -c 64 | tr -d '\\0'")


def write_line(guest: Guest, serial: str, text: str) -> None:
    guest.run(f"echo {text} | sudo dd of=/dev/{guest.disk(serial)} conv=notrunc 2>/dev/null; sync")


def size(guest: Guest, serial: str) -> int:
    return int(guest.read(f"/sys/block/{guest.disk(serial)}/size")) * 512


def starts_with(file: Path, text: str) -> bool:
    with file.open("rb") as data:
        return data.read(len(text)) == text.encode()


# Disks.


def test_a_container_disk_boots_and_takes_writes_that_are_gone_afterwards(
    machine: Machine,
) -> None:
    uid = new_uid(machine)
    with running(machine, Spec(), uid=uid) as guest:
        assert guest.run("uname -r").endswith("-kubevirt")
        above = guest.storage("disk-data/root/disk.qcow2")
        below = guest.storage("container-disks/disk_0.img")
        assert above["node-name"] != below["node-name"]
        guest.run("sudo sh -c 'echo mine > /etc/mine'; sync")
        # It is on the disk and not only in the guest's memory: a reboot keeps it.
        guest.session.type("sudo reboot\n")
        guest.log_in()
        assert guest.read("/etc/mine") == "mine"
    with running(machine, Spec(), uid=uid) as guest:
        assert guest.attempt("ls /etc/mine")[0] != 0
        assert guest.read("/etc/hostname")  # what is in the image is as it was


def test_an_empty_disk_is_blank_and_as_large_as_it_says(guest: Guest) -> None:
    assert size(guest, "BLANK") == 7 * MIB
    assert first_line(guest, "BLANK") == ""


def test_an_ephemeral_volume_never_changes_the_claim_below(guest: Guest, folder: Path) -> None:
    assert first_line(guest, "ABOVE") == "this is ground"
    write_line(guest, "ABOVE", "only for now")
    assert first_line(guest, "ABOVE") == "only for now"
    assert starts_with(folder / "ground.img", "this is ground")


def test_a_claim_that_is_a_file_system_has_its_disk_in_a_file(guest: Guest, folder: Path) -> None:
    assert first_line(guest, "FILE") == "this is file"
    write_line(guest, "FILE", "written by the guest")
    assert starts_with(folder / "file.img", "written by the guest")


def test_a_read_only_claim_cannot_be_written(guest: Guest) -> None:
    assert first_line(guest, "LOCKED") == "this is locked"
    assert guest.read(f"/sys/block/{guest.disk('LOCKED')}/ro") == "1"


def test_a_claim_in_block_mode_is_the_device_itself(
    guest: Guest, folder: Path, block_device: Path
) -> None:
    assert first_line(guest, "BLOCK") == "this is block"
    guest.run(
        f"echo to the device | sudo dd of=/dev/{guest.disk('BLOCK')} bs=4096 conv=sync 2>/dev/null; sync"
    )
    subprocess.run(["blockdev", "--flushbufs", block_device], check=True)
    assert starts_with(folder / "block.img", "to the device")
    assert guest.storage("/dev/block")["driver"] == "host_device"


@pytest.mark.usefixtures("block_device")
def test_block_sizes_can_follow_the_volume(guest: Guest) -> None:
    queue = f"/sys/block/{guest.disk('BLOCK')}/queue"
    assert guest.read(f"{queue}/logical_block_size") == "4096"


def test_a_host_disk_is_a_file_of_the_machine(guest: Guest, folder: Path) -> None:
    assert first_line(guest, "THERE") == "this is there"
    write_line(guest, "THERE", "still there")
    assert starts_with(folder / "there.img", "still there")


def test_a_host_disk_is_made_if_it_may_be(guest: Guest, folder: Path) -> None:
    assert size(guest, "MADE") == 5 * MIB
    assert (folder / "made.img").stat().st_size == 5 * MIB


# Contents.


def test_a_config_map_is_a_disc_with_its_files(guest: Guest) -> None:
    assert guest.on_disc(guest.disk("SETTINGS"), "colour") == "from a ConfigMap"


def test_a_secret_is_a_disc_with_its_files_and_its_label(guest: Guest) -> None:
    name = guest.disk("KEYS")
    assert guest.on_disc(name, "key") == "from a Secret"
    assert (
        guest.run(f"sudo dd if=/dev/{name} bs=1 skip=32808 count=32 2>/dev/null").strip() == "keys"
    )


def test_the_downward_api_is_a_disc_with_the_instances_own_fields(guest: Guest) -> None:
    assert guest.on_disc(guest.disk("FACTS"), "labels") == 'colour="green"'


def test_sysprep_is_a_cdrom_with_the_answer_file(guest: Guest) -> None:
    answers = guest.on_disc("sr0", "autounattend.xml").lower()
    assert answers == "<unattend>for windows</unattend>"
