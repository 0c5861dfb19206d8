"""One run: from a manifest to a guest, and from the guest's end to nothing left.

What comes first cannot leave anything behind: the manifest is read and judged before a folder is made. Then
each part owns what it makes and takes it away again, in reverse order, however the run ends.
"""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.clock import Clock
from kubevirt.base.files import Root
from kubevirt.base.tasks import background
from kubevirt.components.launcher import launching
from kubevirt.components.launcher.firmware import firmware_in
from kubevirt.components.launcher.flags import DAEMON_HOME, OVMF
from kubevirt.components.launcher.settings import Settings
from kubevirt.components.launcher.standalone import (
    devices,
    folders,
    limits,
    manifest,
    mounts,
    network,
)
from kubevirt.components.launcher.standalone.console import Console
from kubevirt.components.launcher.standalone.folders import Place, Run
from kubevirt.components.launcher.standalone.images import Images, guest_folders
from kubevirt.components.launcher.standalone.interruptions import Interruptions
from kubevirt.components.launcher.standalone.launcher import Launcher, last_words, sandboxed
from kubevirt.components.launcher.standalone.mounts import Mount
from kubevirt.components.launcher.standalone.progress import Progress
from kubevirt.components.launcher.standalone.sandbox import Sandbox, accounts
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
    timings: bool = False
    verbosity: int = 2


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The manifest, judged: all that is needed, and nothing done yet."""

    vmi: VirtualMachineInstance
    files: Mapping[str, bytes]
    """Contents of ConfigMaps and Secrets, by path inside."""
    claims: tuple[Mount, ...]

    @property
    def uid(self) -> str:
        return self.vmi.metadata.uid or ""

    @property
    def grace_s(self) -> float:
        given = self.vmi.spec.termination_grace_period_seconds
        return GRACE_S if given is None else float(given)


class Standalone:
    def __init__(self, options: Options, progress: Progress, clock: Clock) -> None:
        self._options = options
        self._progress = progress
        self._clock = clock
        self._place = Place.chosen(options.environment)
        self._interruptions = Interruptions(progress.say)

    async def run(self) -> int:
        """The exit code: 0 if the guest powered off, by itself or because it was asked to."""
        with self._interruptions.heard():
            with self._progress.stage("manifest", f"reading {self._options.source}"):
                wanted = self._judged()
            async with folders.claimed(self._place, wanted.uid, self._clock) as own:
                async with self._started(wanted, own) as launcher:
                    code = await self._watched(launcher, wanted, own)
                self._progress.say(_ending(own, launcher, code))
        return 0 if code == 0 else 1

    def _judged(self) -> Wanted:
        found = manifest.read(self._options.text, self._options.source)
        for warning in found.warnings:
            self._progress.say(f"warning: {warning}")
        vmi = with_defaults(found.vmi, KubeVirtConfiguration())
        network.check(vmi)
        claims = mounts.claims(vmi, self._options.volumes, LAYOUT)
        return Wanted(
            vmi=mounts.with_claims(vmi, claims, LAYOUT),
            files=mounts.contents(msgspec.structs.replace(found, vmi=vmi), LAYOUT),
            claims=claims,
        )

    # Getting ready.

    @asynccontextmanager
    async def _started(self, wanted: Wanted, own: Run) -> AsyncIterator[Launcher]:
        """A launcher whose guest runs."""
        progress, vmi = self._progress, wanted.vmi
        settings = self._settings(wanted)
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
            address = ""
            if network.is_wanted(vmi):
                with progress.stage("network", "making the network"):
                    found = await stack.enter_async_context(
                        network.connected(vmi, inside, self._place.homes, self._clock)
                    )
                    _write_cards(own, found)
                    address = f" at {found.address}"
            with progress.stage("launcher", "waiting for the launcher"):
                commands = await stack.enter_async_context(launcher.answering())
            with progress.stage("guest", "starting the guest"):
                await launcher.or_its_end(commands.sync(msgspec.json.encode(vmi)))
            self._interruptions.concern(launcher)
            progress.say(f"guest {vmi.metadata.name} runs{address}; Ctrl+C ends it")
            self._tell_timings()
            _keep_capabilities(own, settings, self._place)
            yield launcher

    def _settings(self, wanted: Wanted) -> Settings:
        meta = wanted.vmi.metadata
        self._place.capabilities.mkdir(parents=True, exist_ok=True)
        return Settings(
            name=meta.name or "",
            namespace=meta.namespace or "",
            uid=wanted.uid,
            layout=LAYOUT,
            libvirt=DaemonSettings(
                home=DAEMON_HOME, capabilities_seed=str(self._place.capabilities)
            ),
            firmware=firmware_in(OVMF),
            grace_s=wanted.grace_s,
            standalone=True,
            verbosity=self._options.verbosity,
        )

    async def _disks(self, wanted: Wanted, own: Run) -> tuple[Mount, ...]:
        archives = (*self._options.image_folders, *guest_folders(self._options.environment))
        images = Images(self._place.images, archives, self._progress, self._clock)
        found = await images.mounts(wanted.vmi, LAYOUT)
        for claim in wanted.claims:
            own.hand_over(claim)
        return (*found, *wanted.claims)

    @asynccontextmanager
    async def _sandboxed(
        self, wanted: Wanted, own: Run, settings: Settings, disks: Sequence[Mount], namespace: int
    ) -> AsyncIterator[Launcher]:
        sandbox = Sandbox(
            etc=own.etc,
            binds=own.binds(LAYOUT, DAEMON_HOME),
            mounts=disks,
            devices={str(devices.TUN): devices.node(devices.TUN, own.folder)},
            hostname=hostname_of(wanted.vmi),
        )
        # Its other end is ours alone: when we die, by whatever signal, the launcher notices.
        lifeline, held = os.pipe()
        try:
            command, environment = launching.command(
                settings, wanted.grace_s + BEYOND_GRACE_S, lifeline=lifeline
            )
            started = sandboxed(
                sandbox,
                command,
                environment,
                inherited=(namespace, lifeline, own.alive),
                share=own.folder / "share",
                log=own.log,
                clock=self._clock,
            )
            limited = limits.limited(own.group, limits.limits_of(wanted.vmi), self._clock)
            async with limited as group, started as launcher:
                for pid in launcher.pids:
                    limits.take_in(group, pid)
                yield launcher
        finally:
            os.close(lifeline)
            os.close(held)

    def _tell_timings(self) -> None:
        if self._options.timings:
            for line in self._progress.table().splitlines():
                self._progress.say(line)

    # While the guest runs.

    async def _watched(self, launcher: Launcher, wanted: Wanted, own: Run) -> int:
        if not self._options.console:
            return await launcher.ended()
        console = Console(
            own.outside(LAYOUT.instance(wanted.uid), LAYOUT, DAEMON_HOME), self._progress.say
        )
        try:
            async with background(console.run()):
                return await launcher.ended()
        finally:
            console.close()


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


def _ending(own: Run, launcher: Launcher, code: int) -> str:
    """Why the guest ended, in the launcher's words if it has any."""
    if launcher.was_killed:
        return "the guest was ended at once"
    notes = own.outside(f"{LAYOUT.private}/launcher", LAYOUT, DAEMON_HOME)
    try:
        with Root.open(notes) as root:
            return root.read("ending", limit=1 << 12).decode(errors="replace").strip()
    except FileNotFoundError:
        return f"the launcher ended with code {code}: {last_words(own.log)}"
