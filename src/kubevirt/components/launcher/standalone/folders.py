"""The folders of one run, and what earlier runs that were killed have left.

    <runtime>/runs/<uid>/     sockets and notes; on /run, so a reboot clears it
        lock                  held as long as the run lives, by whatever signal it ends
        lent.json             files of the user whose owner we changed, and to whom they belong
        private/ share/ libvirt/ etc/ launcher.log
    <runtime>/networks/       records of `host.net.home`
    <store>/disks/<uid>/      overlays and scratch disks: too large for a file system in memory
    <store>/images/           unpacked container images, for all runs
    <store>/capabilities/     what libvirt learned about this machine's QEMU

A folder whose lock nobody holds belongs to a dead run, and the next start takes it away.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base.errors import UserError
from kubevirt.base.files import Root
from kubevirt.components.launcher.standalone.mounts import Mount
from kubevirt.virt.layout import Layout
from kubevirt.virt.names import file_name

HOME_VARIABLE: Final = "KUBEVIRT_STANDALONE_HOME"
LAUNCHER: Final = 107
"""User and group of everything inside a sandbox."""

_RUNTIME: Final = Path("/run/kubevirt-standalone")
_STORE: Final = Path("/var/lib/kubevirt-standalone")
_OURS: Final = ("private", "share", "libvirt")


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where runs live on this machine."""

    runtime: Path
    store: Path

    @classmethod
    def chosen(cls, environment: Mapping[str, str]) -> "Place":
        home = environment.get(HOME_VARIABLE)
        if home:
            return cls(runtime=Path(home), store=Path(home))
        return cls(runtime=_RUNTIME, store=_STORE)

    @property
    def runs(self) -> Path:
        return self.runtime / "runs"

    @property
    def images(self) -> Path:
        return self.store / "images"

    @property
    def capabilities(self) -> Path:
        return self.store / "capabilities"

    @property
    def homes(self) -> Path:
        """Records of networks, which outlive a killed run until the next one."""
        return self.runtime / "networks"

    def run(self, uid: str) -> "Run":
        name = file_name("uid", uid)
        return Run(folder=self.runs / name, disks=self.store / "disks" / name)

    def runs_found(self) -> Iterator["Run"]:
        for folder in sorted(self.runs.glob("*/lock")):
            yield self.run(folder.parent.name)


class Lent(msgspec.Struct, frozen=True):
    """A file of the user's that the guest's user owns for a while."""

    path: str
    uid: int
    gid: int


class Run(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    disks: Path

    @property
    def log(self) -> Path:
        """What launcher and libvirt say."""
        return self.folder / "launcher.log"

    @property
    def etc(self) -> Path:
        """What little of /etc a launcher sees."""
        return self.folder / "etc"

    def outside(self, path: str, layout: Layout, libvirt: str) -> Path:
        """Where a path of the launcher's is for us."""
        for inside, place in self.binds(layout, libvirt).items():
            if path == inside or path.startswith(f"{inside}/"):
                return place / path[len(inside) :].lstrip("/")
        raise ValueError(f"{path} is no path of the launcher's own")

    def binds(self, layout: Layout, libvirt: str) -> Mapping[str, Path]:
        """The launcher's own folders: path inside to place outside."""
        return {
            layout.private: self.folder / "private",
            layout.share: self.folder / "share",
            libvirt: self.folder / "libvirt",
            layout.ephemeral: self.disks,
        }

    def make(self) -> None:
        self.folder.mkdir(mode=0o755, parents=True)
        for name in _OURS:
            (self.folder / name).mkdir(mode=0o700)
        self.disks.mkdir(mode=0o700, parents=True)

    def give_away(self) -> None:
        """To the launcher's user, before the launcher runs: so far nobody else had a hand in it."""
        for top in (*(self.folder / name for name in _OURS), self.disks):
            os.chown(top, LAUNCHER, LAUNCHER)
            for folder, folders, files in os.walk(top):
                for name in (*folders, *files):
                    os.chown(Path(folder, name), LAUNCHER, LAUNCHER, follow_symlinks=False)

    def hand_over(self, mount: Mount) -> None:
        """Sees to it that the guest's user may open what its owner wants it to have."""
        if mount.create_bytes is not None:
            with Root.open(mount.source.parent) as root, root.create(mount.source.name) as file:
                file.truncate(mount.create_bytes)
                os.fchown(file.fileno(), LAUNCHER, LAUNCHER)
        elif mount.is_lent:
            self._lend(mount.source)
        elif not _may_use(mount.source):
            raise UserError(
                f"{mount.source} is not the guest's to write; give it to its user: "
                f"chown {LAUNCHER}:{LAUNCHER} {mount.source}",
                reason="DiskForbidden",
            )

    def _lend(self, path: Path) -> None:
        """Makes the guest's user the owner of a file, and notes to whom it goes back."""
        found = path.stat()
        if (found.st_uid, found.st_gid) == (LAUNCHER, LAUNCHER):
            return
        known = (*self._lent(), Lent(str(path), found.st_uid, found.st_gid))
        (self.folder / "lent.json").write_bytes(msgspec.json.encode(known))
        with Root.open(path.parent) as root:
            root.chown(path.name, LAUNCHER, LAUNCHER)

    def remove(self) -> None:
        """Everything of it; what was lent goes back first."""
        for each in self._lent():
            with suppress(FileNotFoundError), Root.open(Path(each.path).parent) as root:
                root.chown(Path(each.path).name, each.uid, each.gid)
        shutil.rmtree(self.disks, ignore_errors=True)
        shutil.rmtree(self.folder)

    def _lent(self) -> tuple[Lent, ...]:
        try:
            return msgspec.json.decode(
                (self.folder / "lent.json").read_bytes(), type=tuple[Lent, ...]
            )
        except FileNotFoundError:
            return ()


def _may_use(path: Path) -> bool:
    found = path.stat()
    for owner, shift in ((found.st_uid, 6), (found.st_gid, 3)):
        if owner == LAUNCHER:
            return found.st_mode >> shift & 0o6 == 0o6
    return found.st_mode & 0o6 == 0o6


@contextmanager
def claimed(place: Place, uid: str) -> Iterator[Run]:
    """A run of our own, gone when the body ends. Those of the dead are taken away first."""
    place.runs.mkdir(mode=0o755, parents=True, exist_ok=True)
    place.store.mkdir(mode=0o755, parents=True, exist_ok=True)
    with _locked(place.runtime / "lock"):
        remove_dead(place)
        run = place.run(uid)
        if run.folder.exists():
            raise UserError(
                f"an instance with the UID {uid} runs already; give the other one a UID of its own",
                reason="AlreadyRunning",
            )
        run.make()
        lock = os.open(run.folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        yield run
    finally:
        run.remove()
        os.close(lock)


def remove_dead(place: Place) -> None:
    for run in place.runs_found():
        with suppress(FileNotFoundError), (run.folder / "lock").open("rb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # it lives
            run.remove()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One at a time makes and removes runs. It takes milliseconds, so it is simply waited for."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
