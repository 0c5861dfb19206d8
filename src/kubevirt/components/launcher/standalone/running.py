"""One run: from a manifest to a guest that runs. What follows is the keeper's.

What comes first cannot leave anything behind: the manifest is read and judged before a folder is made. Then
each part owns what it makes and takes it away again, in reverse order, if there will be no guest. Once there is
one we become its keeper, by exec from the inside of all these parts, so that none of them is taken away.
"""

import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

import msgspec

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.clock import Clock
from kubevirt.base.commands import ENVIRONMENT
from kubevirt.base.files import Root
from kubevirt.components.launcher import launching
from kubevirt.components.launcher.firmware import firmware_in
from kubevirt.components.launcher.flags import DAEMON_HOME, OVMF
from kubevirt.components.launcher.settings import Settings
from kubevirt.components.launcher.standalone import (
    devices,
    folders,
    interruptions,
    keeper,
    limits,
    manifest,
    mounts,
    network,
)
from kubevirt.components.launcher.standalone.folders import Place, Run
from kubevirt.components.launcher.standalone.images import Images, guest_folders
from kubevirt.components.launcher.standalone.keeper import Charge
from kubevirt.components.launcher.standalone.launcher import Launcher, sandboxed
from kubevirt.components.launcher.standalone.manifest import Files
from kubevirt.components.launcher.standalone.mounts import Mount
from kubevirt.components.launcher.standalone.progress import Progress
from kubevirt.components.launcher.standalone.sandbox import Sandbox, accounts
from kubevirt.components.launcher.standalone.voice import say
from kubevirt.host.kvm import acceleration
from kubevirt.host.libvirt.daemon import Daemon, DaemonSettings
from kubevirt.virt.defaults.instance import with_defaults
from kubevirt.virt.hostname import hostname_of
from kubevirt.virt.layout import Layout

GRACE_S: Final = 30.0
"""For a guest that names none, as upstream."""
BEYOND_GRACE_S: Final = 15.0
"""What the launcher has on top, to end by itself."""
LAYOUT: Final = Layout()


class Options(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    """The manifest."""
    source: str
    """What it is called in a sentence."""
    console: bool = False
    volumes: Mapping[str, Path] = {}
    """Disks by claim."""
    image_folders: Sequence[Path] = ()
    """Archives of images, looked through in this order."""
    environment: Mapping[str, str] = {}
    use_emulation: bool = False
    """Even where the machine has KVM."""
    timings: bool = False
    verbosity: int = 2


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The manifest, judged: all that is needed, and nothing done yet."""

    vmi: VirtualMachineInstance
    files: Mapping[str, bytes]
    """Contents of ConfigMaps and Secrets, by path inside."""
    secrets: Mapping[str, Files]
    """By name, for those who pull images."""
    claims: tuple[Mount, ...]

    @property
    def uid(self) -> str:
        return self.vmi.metadata.uid or ""

    @property
    def grace_s(self) -> float:
        given = self.vmi.spec.termination_grace_period_seconds
        return GRACE_S if given is None else float(given)


Become = Callable[[Sequence[str], Mapping[str, str]], NoReturn]
"""What `exec` does: the program's arguments and its whole environment."""


class Standalone:
    def __init__(self, options: Options, progress: Progress, clock: Clock, become: Become) -> None:
        self._options = options
        self._progress = progress
        self._clock = clock
        self._become = become
        self._place = Place.chosen(options.environment)

    async def run(self) -> NoReturn:
        """Becomes the keeper of a guest that runs, or raises and leaves nothing."""
        with interruptions.giving_up(say):
            with self._progress.stage("manifest", f"reading {self._options.source}"):
                wanted = self._judged()
            async with (
                folders.claimed(self._place, wanted.uid, self._clock) as own,
                self._started(wanted, own) as charge,
            ):
                self._become(
                    (sys.executable, "-I", "-m", keeper.MODULE, json.dumps(charge)), ENVIRONMENT
                )

    def _judged(self) -> Wanted:
        found = manifest.read(self._options.text, self._options.source)
        for warning in found.warnings:
            say(f"warning: {warning}")
        vmi = with_defaults(found.vmi, KubeVirtConfiguration())
        network.check(vmi)
        claims = mounts.claims(vmi, self._options.volumes, LAYOUT)
        return Wanted(
            vmi=mounts.with_claims(vmi, claims, LAYOUT),
            files=mounts.contents(msgspec.structs.replace(found, vmi=vmi), LAYOUT),
            secrets=found.secrets,
            claims=claims,
        )

    # Getting ready.

    @asynccontextmanager
    async def _started(self, wanted: Wanted, own: Run) -> AsyncIterator[Charge]:
        """A guest that runs, and what its keeper must know."""
        progress, vmi = self._progress, wanted.vmi
        settings = await self._settings(wanted)
        disks = await self._disks(wanted, own)
        with progress.stage("folders", "preparing the launcher's folders"):
            _fill(own, wanted, disks, settings)
        async with AsyncExitStack() as stack:
            # The launcher gets ready in a namespace that is furnished meanwhile.
            inside = stack.enter_context(network.empty())
            with progress.stage("sandbox", "starting the launcher"):
                launcher = await stack.enter_async_context(
                    self._sandboxed(wanted, own, settings, disks, inside.fd)
                )
            found = None
            if network.is_wanted(vmi):
                with progress.stage("network", "making the network"):
                    found = await stack.enter_async_context(
                        network.connected(vmi, inside, self._place.homes)
                    )
                    _write_cards(own, found)
                for note in found.notes:
                    say(note)
            with progress.stage("guest", "starting the guest"):
                notes = await launcher.started(msgspec.json.encode(vmi))
            for note in notes.splitlines():
                say(f"note: {note}")
            interrupted = await interruptions.held_back()
            where = f" at {found.address}" if found else ""
            say(f"guest {vmi.metadata.name} runs{where}; Ctrl+C ends it")
            self._tell_timings()
            _keep_capabilities(own, settings, self._place)
            yield self._charge(wanted, own, launcher, interrupted, found)

    def _charge(
        self,
        wanted: Wanted,
        own: Run,
        launcher: Launcher,
        interrupted: int,
        found: network.Network | None,
    ) -> Charge:
        """With all descriptors that outlive us."""
        locks = [own.lock, own.alive, *([found.lock] if found else [])]
        for fd in (*locks, interrupted, *launcher.kept, *(found.inherited if found else ())):
            os.set_inheritable(fd, True)
        sockets = own.outside(LAYOUT.instance(wanted.uid), LAYOUT, DAEMON_HOME)
        notes = own.outside(f"{LAYOUT.private}/launcher", LAYOUT, DAEMON_HOME)
        return Charge(
            sandbox=launcher.pids[0],
            launcher=launcher.pidfd,
            interrupted=interrupted,
            servers=found.servers if found else (),
            console=str(sockets) if self._options.console else None,
            log=str(own.log),
            notes=str(notes),
            locks=locks,
            uid=wanted.uid,
            runtime=str(self._place.runtime),
            store=str(self._place.store),
        )

    async def _settings(self, wanted: Wanted) -> Settings:
        meta = wanted.vmi.metadata
        self._place.capabilities.mkdir(parents=True, exist_ok=True)
        kvm = await self._has_kvm()
        return Settings(
            name=meta.name or "",
            namespace=meta.namespace or "",
            uid=wanted.uid,
            layout=LAYOUT,
            libvirt=DaemonSettings(
                home=DAEMON_HOME,
                capabilities_seed=str(self._place.capabilities),
                emulated=not kvm,
            ),
            kvm=kvm,
            firmware=firmware_in(OVMF),
            grace_s=wanted.grace_s,
            standalone=True,
            commissioned=True,
            verbosity=self._options.verbosity,
        )

    async def _has_kvm(self) -> bool:
        if self._options.use_emulation:
            return False
        with self._progress.stage("KVM", "trying whether KVM works"):
            found = await acceleration(self._place.store)
        if not found.usable:
            say(f"the guest is emulated, which is slow: {found.reason}")
        return found.usable

    async def _disks(self, wanted: Wanted, own: Run) -> tuple[Mount, ...]:
        archives = (*self._options.image_folders, *guest_folders(self._options.environment))
        images = Images(self._place.images, archives, wanted.secrets, self._progress, self._clock)
        found = await images.mounts(wanted.vmi, LAYOUT)
        for claim in wanted.claims:
            own.hand_over(claim)
        return (*found, *wanted.claims)

    @asynccontextmanager
    async def _sandboxed(
        self, wanted: Wanted, own: Run, settings: Settings, disks: Sequence[Mount], namespace: int
    ) -> AsyncIterator[Launcher]:
        nodes = (devices.TUN, devices.KVM) if settings.kvm else (devices.TUN,)
        sandbox = Sandbox(
            etc=own.etc,
            binds=own.binds(LAYOUT, DAEMON_HOME),
            mounts=disks,
            devices={str(each): devices.node(each, own.folder) for each in nodes},
            hostname=hostname_of(wanted.vmi),
        )
        # Its other end is ours alone: when we die, by whatever signal, the launcher notices.
        lifeline, held = os.pipe()
        try:
            command, environment = launching.command(
                settings, wanted.grace_s + BEYOND_GRACE_S, lifeline=lifeline
            )
            wished = limits.limits_of(wanted.vmi)
            async with (
                limits.limited(own.group, wished, self._clock) as group,
                sandboxed(
                    sandbox,
                    command,
                    environment,
                    inherited=(namespace, lifeline, own.alive),
                    kept=(held,),
                    take_in=partial(limits.take_in, group),
                    share=own.folder / "share",
                    log=own.log,
                    clock=self._clock,
                ) as launcher,
            ):
                yield launcher
        finally:
            os.close(lifeline)
            os.close(held)

    def _tell_timings(self) -> None:
        if self._options.timings:
            for line in self._progress.table().splitlines():
                say(line)


def _fill(own: Run, wanted: Wanted, disks: Sequence[Mount], settings: Settings) -> None:
    """All that must be there before the launcher runs; then it is the launcher's."""

    def outside(path: str) -> Path:
        return own.outside(path, LAYOUT, DAEMON_HOME)

    own.etc.mkdir()
    for name, text in accounts(hostname_of(wanted.vmi)).items():
        (own.etc / name).write_text(text)
    launching.prepare(settings, outside)
    with Root.open(own.folder) as root:
        for path, data in wanted.files.items():
            place = outside(path).relative_to(own.folder)
            root.mkdir(place.parent, parents=True, exist_ok=True)
            root.write(place, data, durable=False)
    for disk in disks:
        if not disk.is_device:
            outside(disk.target).parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    own.give_away()


def _write_cards(own: Run, found: network.Network) -> None:
    """The launcher runs already, so its folder is a stranger's by now."""
    place = own.outside(LAYOUT.interface_facts, LAYOUT, DAEMON_HOME)
    with Root.open(place.parent) as root:
        root.write(place.name, msgspec.json.encode(found.cards), mode=0o644, durable=False)


def _keep_capabilities(own: Run, settings: Settings, place: Place) -> None:
    """What libvirt learned about QEMU, for later runs; only if there is nothing yet, and at the very
    beginning of the guest's life.
    """
    if any(place.capabilities.iterdir()):
        return
    learned = own.outside(str(Daemon(settings.libvirt).capabilities), LAYOUT, DAEMON_HOME)
    with Root.open(learned) as root, Root.open(place.capabilities) as kept:
        for name in root.listdir(limit=16):
            if name.endswith(".xml"):
                kept.write(name, root.read(name), mode=0o644, durable=False)
