"""Guests for the proofs: described by what is special about them, run by the real virt-launcher, asked inside.

    with running(machine, Spec(disks=[disk("data", {"emptyDisk": {"capacity": "8Mi"}}, bus="usb")])) as guest:
        guest.run("lsblk")

A guest is shared by all tests of a module, so a test leaves it as it was.
"""

import json
import re
import secrets
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from tests.e2e.standalone.driver import Machine, Session

Object = Mapping[str, Any]
Volumes = Mapping[str, Path]
"""Disks of claims, by name."""

IMAGE = "quay.io/kubevirt/cirros-container-disk-demo:devel"
ROOT: Object = {"containerDisk": {"image": IMAGE}}
MEMORY = "64Mi"
NONE: Volumes = MappingProxyType({})


@dataclass(frozen=True)
class Disk:
    """An entry of `disks` and the volume behind it."""

    device: Object
    volume: Object | None = None
    """A drive may be empty."""


def disk(
    name: str, volume: Object, *, bus: str = "virtio", kind: str = "disk", **more: Any
) -> Disk:
    """`more` are fields of the entry; those of its kind go into `on`."""
    target = {"bus": bus, **more.pop("on", {})}
    return Disk({"name": name, kind: target, **more}, {"name": name, **volume})


@dataclass(frozen=True)
class Spec:
    """What is special about a guest; it boots from our image unless it says otherwise."""

    disks: Sequence[Disk] = ()
    devices: Object = field(default_factory=dict)
    domain: Object = field(default_factory=dict)
    metadata: Object = field(default_factory=dict)
    instance: Object = field(default_factory=dict)
    """Fields of the spec itself."""
    beside: Sequence[Object] = ()
    """ConfigMaps and Secrets."""
    root: Disk | None = field(default_factory=lambda: disk("root", ROOT))
    interface: Object | None = None
    """The one on the pod network, if there is any."""

    def documents(self, uid: str) -> list[Object]:
        disks = [*([self.root] if self.root else []), *self.disks]
        cards = [{"name": "default", **self.interface}] if self.interface else []
        devices = {
            "autoattachPodInterface": bool(cards),
            "disks": [each.device for each in disks],
            "interfaces": cards,
            **self.devices,
        }
        spec = {
            "terminationGracePeriodSeconds": 0,
            "networks": [{"name": "default", "pod": {}}] if cards else [],
            "volumes": [each.volume for each in disks if each.volume],
            **self.instance,
            "domain": {"memory": {"guest": MEMORY}, **self.domain, "devices": devices},
        }
        vmi = {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachineInstance",
            "metadata": {"name": "testvm", "uid": uid, **self.metadata},
            "spec": spec,
        }
        return [vmi, *self.beside]


@dataclass(frozen=True)
class Account:
    """Who logs in."""

    name: str
    password: str = ""
    prompt: str = "# "


CIRROS = Account("cirros", "gocubsgo", "$ ")
ALPINE = Account("root")


class Guest:
    """A guest that runs, seen from inside and from outside."""

    def __init__(self, session: Session, run: Path) -> None:
        self.session = session
        self.folder = run
        """Of its launcher."""
        self.booted = ""
        """What it printed until somebody could log in."""
        self._prompt = CIRROS.prompt

    def log_in(self, account: Account = CIRROS) -> None:
        self.booted = self.session.until("login: ")
        self.session.type(f"{account.name}\n")
        if account.password:
            # With its capital: what a guest says before it asks may tell the default password.
            self.session.until("Password: ")
            self.session.type(f"{account.password}\n")
        self._prompt = account.prompt
        self.session.until(self._prompt)
        # One line for each command, however long: the shell would break what is typed.
        self.run("stty cols 4000")

    def run(self, command: str) -> str:
        """What it printed, if it succeeded."""
        code, shown = self.attempt(command)
        assert code == 0, f"{command!r} ended with {code}: {shown}"
        return shown

    def attempt(self, command: str) -> tuple[int, str]:
        """Exit code and what it printed."""
        # The quotes make what is typed differ from what is printed.
        self.session.type(f'{command}; echo "@"end=$?\n')
        self.session.until('echo "@"end=$?')
        shown = self.session.until("@end=").removesuffix("@end=")
        code = self.session.until(self._prompt).split()[0]
        clean = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", shown).replace("\r", "").strip()
        return int(code), clean

    def read(self, path: str) -> str:
        """A file that may be root's."""
        return self.run(f"sudo cat {path}")

    def lines(self, command: str) -> list[str]:
        return self.run(command).splitlines()

    # Its disks.

    def disk(self, serial: str) -> str:
        """Name of the disk with the serial number, on whatever bus."""
        found = self.run(
            "cd /sys/block; grep -lw"
            f" {serial} */serial */device/vpd_pg80 */device/../../../../serial 2>/dev/null"
            " | cut -d/ -f1; cd"
        )
        assert found, f"no disk has the serial {serial}"
        return found

    def on_disc(self, device: str, path: str) -> str:
        """Of a file system on a disk, the text of one file."""
        return self.run(f"sudo mount -r /dev/{device} /mnt && cat /mnt/{path}; sudo umount /mnt")

    # From outside.

    @property
    def qemu(self) -> int:
        """Its process."""
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                is_ours = self.folder.name in (folder / "mountinfo").read_text()
                if is_ours and (folder / "comm").read_text().startswith("qemu-system"):
                    return int(folder.name)
            except OSError:
                continue
        raise AssertionError("there is no QEMU")

    @property
    def words(self) -> list[str]:
        """QEMU's command line."""
        line = Path(f"/proc/{self.qemu}/cmdline").read_bytes()
        return [word.decode() for word in line.split(b"\0")[:-1]]

    def options(self, name: str) -> list[str]:
        """Values of an option that comes more than once."""
        return [value for word, value in pairwise(self.words) if word == f"-{name}"]

    def devices(self, **wanted: object) -> list[dict[str, Any]]:
        """Devices on QEMU's command line that have these properties."""
        found = [json.loads(each) for each in self.options("device") if each.startswith("{")]
        return [each for each in found if wanted.items() <= each.items()]

    def storage(self, path: str) -> dict[str, Any]:
        """How QEMU opens a file: the lowest layer, whose path ends like that."""
        found = [json.loads(each) for each in self.options("blockdev")]
        return next(each for each in found if each.get("filename", "").endswith(path))


def family(machine: Machine) -> str:
    """How the UIDs of a machine's guests begin, so that nobody takes another test's for ours."""
    return f"{zlib.crc32(bytes(machine.home)):08x}"


def left_of(machine: Machine) -> Mapping[str, object]:
    """Of its guests, when all of them are gone."""
    # Control groups are the machine's, and others may run guests at the same time.
    groups = [each for each in machine.cgroups() if family(machine) in each]
    left = {**machine.leftovers(), "cgroups": groups}
    return {name: value for name, value in left.items() if value}


def new_uid(machine: Machine) -> str:
    return f"{family(machine)}-0000-4000-8000-{secrets.token_hex(6)}"


@contextmanager
def started(
    machine: Machine, spec: Spec, volumes: Volumes = NONE, *, console: bool = True, uid: str = ""
) -> Iterator[Guest]:
    """A virt-launcher on its way; whether the guest comes up is the test's question."""
    uid = uid or new_uid(machine)
    manifest = machine.home / f"{uid}.yaml"
    manifest.write_text(yaml.safe_dump_all(spec.documents(uid)))
    claims = [word for name, path in volumes.items() for word in ("--volume", f"{name}={path}")]
    if console:
        claims.append("--console")
    try:
        with machine.launched("--standalone", str(manifest), *claims) as session:
            if console:
                # A guest without a log has nobody to keep what it prints before the console is there. If it has asked
                # by then who logs in, it asks again.
                session.type("\n")
            yield Guest(session, machine.home / "runs" / uid)
    finally:
        manifest.unlink()


@contextmanager
def running(
    machine: Machine,
    spec: Spec,
    volumes: Volumes = NONE,
    account: Account = CIRROS,
    *,
    uid: str = "",
) -> Iterator[Guest]:
    """A guest that somebody has logged in to; with the UID of one before, the same instance once more."""
    with started(machine, spec, volumes, uid=uid) as guest:
        guest.log_in(account)
        yield guest


def refusal(machine: Machine, spec: Spec, volumes: Volumes = NONE) -> str:
    """Why it does not run, in the one sentence that its user reads at the end."""
    with started(machine, spec, volumes, console=False) as guest:
        assert guest.session.ended() == 1
    assert "Traceback" not in guest.session.said, guest.session.said
    # What comes before tells of the machine, and of what takes its time.
    return guest.session.said.splitlines()[-1].removeprefix("virt-launcher: ")
