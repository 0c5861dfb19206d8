"""The folders of one run, and what earlier runs that were killed have left.

    <runtime>/runs/<uid>/     sockets and notes; on /run, so a reboot clears it
        lock                  held by the outer process as long as it lives, by whatever signal it ends
        alive                 held by the launcher, too: a killed run is over when its guest is
        lent.json             files of the user whose owner we changed, and to whom they belong
        private/ share/ libvirt/ etc/ launcher.log
    <runtime>/networks/       records of `host.net.home`
    <store>/disks/<uid>/      overlays and scratch disks: too large for a file system in memory
    <store>/images/           unpacked container images, for all runs
    <store>/capabilities/     what libvirt learned about this machine's QEMU

A folder whose lock nobody holds belongs to a dead run, and the next start takes it away. It waits for the
launcher of that run, which notices its owner's death and may need a moment to let QEMU finish its writes.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import IO, Final

import msgspec

from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry, UnsafePath, UserError
from kubevirt.base.files import Root
from kubevirt.components.launcher.standalone import limits
from kubevirt.components.launcher.standalone.mounts import Mount
from kubevirt.virt.layout import Layout
from kubevirt.virt.names import file_name

HOME_VARIABLE: Final = "KUBEVIRT_STANDALONE_HOME"
LAUNCHER: Final = 107
"""User and group of everything inside a sandbox."""
LINGER_S: Final = 20.0
"""How long a launcher may need to end after its owner was killed."""

_RUNTIME: Final = Path("/run/kubevirt-standalone")
_STORE: Final = Path("/var/lib/kubevirt-standalone")
_LOCKS: Final = ("lock", "alive")
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
        return Run(
            group=f"{self.groups}{name}",
            folder=self.runs / name,
            disks=self.store / "disks" / name,
        )

    @property
    def groups(self) -> str:
        """What the names of all control groups of this place begin with."""
        mark = hashlib.sha256(os.fsencode(self.runtime)).hexdigest()[:8]
        return f"kubevirt-standalone-{mark}-"

    def runs_found(self) -> Iterator["Run"]:
        for folder in sorted(self.runs.glob("*/lock")):
            yield self.run(folder.parent.name)


class Lent(msgspec.Struct, frozen=True):
    """A file of the user's that the guest's user owns for a while."""

    path: str
    uid: int
    gid: int


class Run(msgspec.Struct, frozen=True, kw_only=True):
    group: str
    """Name of its control group. Runs of another place may have the same UID."""
    folder: Path
    disks: Path
    lock: int = -1
    """Descriptor of the lock that is ours."""
    alive: int = -1
    """Of the one that the launcher inherits."""

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
            # What is gone, or no longer one file of one name, is left as it is.
            with suppress(OSError, UnsafePath), Root.open(Path(each.path).parent) as root:
                root.chown(Path(each.path).name, each.uid, each.gid)
        shutil.rmtree(self.disks, ignore_errors=True)
        # The lock last: whoever is killed half-way leaves what the next one finds.
        for path in self.folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name not in _LOCKS:
                path.unlink()
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


@asynccontextmanager
async def claimed(place: Place, uid: str, clock: Clock) -> AsyncIterator[Run]:
    """A run of our own, gone when the body ends. Those of the dead are taken away first."""
    await remove_dead(place, clock)
    place.runs.mkdir(mode=0o700, parents=True, exist_ok=True)
    place.store.mkdir(mode=0o755, parents=True, exist_ok=True)
    run = place.run(uid)
    with ExitStack() as locks:
        try:
            run.folder.mkdir(mode=0o700)
        except FileExistsError:
            raise UserError(
                f"an instance with the UID {uid} runs already; give the other one a UID of its own",
                reason="AlreadyRunning",
            ) from None
        # Until the lock is there, others do not see the run.
        alive = locks.enter_context((run.folder / "alive").open("wb"))
        fcntl.flock(alive, fcntl.LOCK_EX)
        draft = locks.enter_context((run.folder / ".lock").open("wb"))
        fcntl.flock(draft, fcntl.LOCK_EX)
        (run.folder / ".lock").rename(run.folder / "lock")
        try:
            run = msgspec.structs.replace(run, lock=draft.fileno(), alive=alive.fileno())
            run.make()
            yield run
        finally:
            run.remove()


async def remove_dead(place: Place, clock: Clock) -> None:
    """Of all runs whose owners are dead."""
    for run in list(place.runs_found()):
        await remove_if_dead(run, clock)


async def remove_if_dead(run: Run, clock: Clock) -> None:
    with suppress(FileNotFoundError), (run.folder / "lock").open("rb") as lock:
        if not _taken(lock):
            return  # it lives
        with (run.folder / "alive").open("rb") as alive:
            await _wait_for(alive, run, clock)
        await limits.remove(run.group, clock)
        run.remove()


async def _wait_for(alive: IO[bytes], run: Run, clock: Clock) -> None:
    try:
        async with clock.timeout(LINGER_S):
            while not _taken(alive):
                await clock.sleep(0.02)  # a lock has no event
    except TimeoutError:
        raise Retry(
            f"the guest of an earlier run that was killed does not end; see {run.folder}"
        ) from None


def _taken(lock: IO[bytes]) -> bool:
    """Whether we have it now."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
