"""One run: from a manifest to a guest, and from the guest's end to nothing left.

What comes first cannot leave anything behind: the manifest is read and judged before a folder is made. Then
each part owns what it makes and takes it away again, in reverse order, however the run ends.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
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
from kubevirt.components.launcher.standalone import devices, folders, manifest, mounts, network
from kubevirt.components.launcher.standalone.console import Console
from kubevirt.components.launcher.standalone.folders import Place, Run
from kubevirt.components.launcher.standalone.images import Images, guest_folders
from kubevirt.components.launcher.standalone.launcher import Launcher, last_words, sandboxed
from kubevirt.components.launcher.standalone.mounts import Mount
from kubevirt.components.launcher.standalone.progress import Progress
from kubevirt.components.launcher.standalone.sandbox import GROUP, PASSWD, Sandbox
from kubevirt.host.libvirt.daemon import Daemon, DaemonSettings
from kubevirt.virt.defaults.instance import with_defaults
from kubevirt.virt.hostname import hostname_of
from kubevirt.virt.layout import Layout

GRACE_S: Final = 30.0
"""For a guest that names none, as upstream."""
BEYOND_GRACE_S: Final = 15.0
"""What the launcher has on top, to end by itself."""
LAYOUT: Final = Layout()
_ENDS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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

    async def run(self) -> int:
        """The exit code: 0 if the guest powered off, by itself or because it was asked to."""
        with self._progress.stage("manifest", f"reading {self._options.source}"):
            wanted = self._judged()
        with folders.claimed(self._place, wanted.uid) as own:
            async with self._started(wanted, own) as launcher:
                code = await self._watched(launcher, wanted, own)
            said = _ending(own) or f"the launcher ended with code {code}: {last_words(own.log)}"
            self._progress.say(said)
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
            _fill(own, wanted.files, disks, settings)
        async with AsyncExitStack() as stack:
            with progress.stage("network", "making the network"):
                home = None
                if network.is_wanted(vmi):
                    home = await stack.enter_async_context(network.furnished(vmi, self._place))
                namespace = home.namespace if home else stack.enter_context(network.empty())
            with progress.stage("sandbox", "starting the launcher"):
                launcher = await stack.enter_async_context(
                    self._sandboxed(wanted, own, settings, disks, namespace.fd)
                )
            address = ""
            if home:
                with progress.stage("links", "connecting the guest"):
                    found = await stack.enter_async_context(
                        network.connected(vmi, home, self._clock)
                    )
                    _write_cards(own, found)
                    address = f" at {found.address}"
            with progress.stage("guest", "starting the guest"):
                await launcher.sync(msgspec.json.encode(vmi))
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
        command, environment = launching.command(settings, wanted.grace_s + BEYOND_GRACE_S)
        async with sandboxed(
            sandbox,
            command,
            environment,
            namespace=namespace,
            share=own.folder / "share",
            log=own.log,
            clock=self._clock,
        ) as launcher:
            yield launcher

    def _tell_timings(self) -> None:
        if self._options.timings:
            for line in self._progress.table().splitlines():
                self._progress.say(line)

    # While the guest runs.

    async def _watched(self, launcher: Launcher, wanted: Wanted, own: Run) -> int:
        with self._signals_passed_on(launcher):
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

    @contextmanager
    def _signals_passed_on(self, launcher: Launcher) -> Iterator[None]:
        """The first asks the guest to end, the second ends it."""
        loop = asyncio.get_running_loop()
        has_asked = False

        def end() -> None:
            nonlocal has_asked
            if has_asked:
                self._progress.say("ending the guest at once")
                launcher.kill()
            else:
                has_asked = True
                self._progress.say("asking the guest to end; Ctrl+C again ends it at once")
                launcher.end()

        for each in _ENDS:
            loop.add_signal_handler(each, end)
        try:
            yield
        finally:
            for each in _ENDS:
                loop.remove_signal_handler(each)


def _fill(own: Run, files: Mapping[str, bytes], disks: Sequence[Mount], settings: Settings) -> None:
    """All that must be there before the launcher runs; then it is the launcher's."""

    def outside(path: str) -> Path:
        return own.outside(path, LAYOUT, DAEMON_HOME)

    own.etc.mkdir()
    (own.etc / "passwd").write_text(PASSWD)
    (own.etc / "group").write_text(GROUP)
    launching.prepare(settings, outside)
    with Root.open(own.folder) as root:
        for path, data in files.items():
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


def _ending(own: Run) -> str:
    """Why the guest ended, in the launcher's words."""
    notes = own.outside(f"{LAYOUT.private}/launcher", LAYOUT, DAEMON_HOME)
    try:
        with Root.open(notes) as root:
            return root.read("ending", limit=1 << 12).decode(errors="replace").strip()
    except FileNotFoundError:
        return ""
