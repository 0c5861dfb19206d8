"""The images of a home: `Images` of the node's neighbours."""

import asyncio
import hashlib
import os
import re
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

import msgspec

from kubevirt.base.clock import Clock
from kubevirt.base.errors import ConfigError, KubevirtError
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.embedded.node.neighbours import Image, NotNow
from kubevirt.embedded.runtime.images import built_in, configuration, launcher, learning
from kubevirt.embedded.runtime.images.local import Found, LocalImages
from kubevirt.embedded.runtime.images.pull_secrets import credentials_for
from kubevirt.embedded.runtime.images.settings import ImageSettings
from kubevirt.host.oci.authorization import Credentials
from kubevirt.host.oci.errors import ContainerImageError
from kubevirt.host.oci.reference import Reference
from kubevirt.host.oci.roots import ROOT_LIMITS, RootCache, config_of, root_of
from kubevirt.host.oci.unpacked import UnpackedImage

_log = get_logger("embedded.runtime.images")
_HOUR_S: Final = 3600.0
_DAY_S: Final = 24 * _HOUR_S
_PORT: Final = re.compile(r":[0-9]+$")
_LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_MOST_KNOWN: Final = 1000
_UNAUTHORIZED: Final = "ImagePullUnauthorized"


class _Pulled(msgspec.Struct, frozen=True):
    name: str
    digest: str


class _Pull:
    """A pull that goes on, or went: those who want the same while it goes on get what it got."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.number = 0
        self.outcome: Image | KubevirtError | None = None


class ImageStore:
    def __init__(self, settings: ImageSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        folder = settings.folder
        self._roots = RootCache(folder / "roots", clock, limits=ROOT_LIMITS)
        archives = (folder / "archives", *settings.archives)
        self._local = LocalImages(folder / "layout", archives)
        self._own_launcher: Image | None = None
        self._from_local = dict[Found, Image]()
        self._pulls = WeakValueDictionary[tuple[str, ...], _Pull]()

    async def get(self, name: str, policy: str, credentials: Sequence[bytes] = ()) -> Image:
        """By Kubernetes' pull policies. `credentials` are the contents of pull secrets. NotNow with
        ErrImagePull, ErrImageNeverPull or InvalidImageName.
        """
        try:
            wanted = Reference.parse(name)
        except ContainerImageError as error:
            raise NotNow("InvalidImageName", str(error)) from None
        if built_in.is_built_in(wanted):
            return built_in.IMAGE
        if launcher.is_launcher(wanted):
            return self._launcher()
        try:
            found = await asyncio.to_thread(self._local.find, wanted)
            if found:
                return await self._here(wanted, found)
            present = None if policy == "Always" else self._present(wanted)
            if present is None and policy == "Never":
                raise NotNow(
                    "ErrImageNeverPull",
                    f'Container image "{name}" is not present with pull policy of Never',
                )
            return present or await self._pulled(wanted, credentials)
        except KubevirtError as error:
            if isinstance(error, NotNow):
                raise
            raise NotNow("ErrImagePull", self._explained(wanted, error)) from None

    async def learn(self) -> None:
        """What launchers would otherwise ask QEMU, each for itself; for the time when nobody waits."""
        await learning.learn(self._settings.folder / "launcher")

    async def collect(self, in_use: Collection[Path]) -> None:
        """Lets go what nobody used for long, but for the roots in use, and what was left half-way.

        Belongs to the start of a home, when nothing is pulled yet.
        """
        await asyncio.to_thread(self._collect, frozenset(in_use))

    # Images that are this machine

    def _launcher(self) -> Image:
        if self._own_launcher is None:
            try:
                self._own_launcher = launcher.image(self._settings.folder / "launcher")
            except ConfigError as error:
                raise NotNow("ErrImagePull", str(error)) from None
        return self._own_launcher

    # Images that lie here

    async def _here(self, wanted: Reference, found: Found) -> Image:
        known = self._from_local.get(found)
        if known is None or known.root is None or not known.root.exists():
            unpacked = await self._roots.unpacked(found.source(), found.name)
            if len(self._from_local) >= _MOST_KNOWN:
                self._from_local.clear()
            known = self._from_local[found] = _image(wanted, unpacked)
        self._touch(known)
        return known

    # Images of registries

    def _present(self, wanted: Reference) -> Image | None:
        digest = self._digest_of(wanted)
        unpacked = self._roots.find(digest, str(wanted)) if digest else None
        if unpacked is None:
            return None
        image = _image(wanted, unpacked)
        self._touch(image)
        return image

    async def _pulled(self, wanted: Reference, secrets: Sequence[bytes]) -> Image:
        key = (str(wanted), *(hashlib.sha256(each).hexdigest() for each in secrets))
        pull = self._pulls.setdefault(key, _Pull())
        number = pull.number
        async with pull.turn:
            if pull.number == number:
                try:
                    pull.outcome = await self._pull(wanted, secrets)
                except KubevirtError as error:
                    pull.outcome = error
                pull.number += 1
        if isinstance(pull.outcome, Image):
            return pull.outcome
        raise pull.outcome or RuntimeError("a pull without an outcome")

    async def _pull(self, wanted: Reference, secrets: Sequence[bytes]) -> Image:
        """With each of the credentials until one opens the door; without any if there are none."""
        refusal: ContainerImageError | None = None
        keys: Sequence[Credentials | None] = credentials_for(wanted, secrets) or [None]
        for credentials in keys:
            try:
                unpacked = await self._from_registry(wanted, credentials)
            except ContainerImageError as error:
                if error.reason != _UNAUTHORIZED:
                    raise
                refusal = error
            else:
                self._remember(wanted, unpacked.digest)
                return msgspec.structs.replace(_image(wanted, unpacked), is_pulled=True)
        raise refusal or RuntimeError("nobody was asked")

    async def _from_registry(
        self, wanted: Reference, credentials: Credentials | None
    ) -> UnpackedImage:
        from kubevirt.host.oci.registry import Registry, RegistrySettings  # noqa: PLC0415  # aiohttp

        settings = RegistrySettings(
            addresses=_addresses(wanted, self._settings),
            credentials={wanted.registry: credentials} if credentials else {},
        )
        folder = self._settings.folder / "downloads"
        async with Registry(folder, self._clock, settings) as registry:
            return await self._roots.unpacked(registry, str(wanted))

    def _digest_of(self, wanted: Reference) -> str:
        try:
            data = (self._settings.folder / "names" / _file_name(wanted)).read_bytes()
            found = msgspec.json.decode(data, type=_Pulled)
        except (FileNotFoundError, msgspec.DecodeError):
            return ""
        return found.digest if found.name == str(wanted) else ""

    def _remember(self, wanted: Reference, digest: str) -> None:
        if self._digest_of(wanted) == digest:
            return
        folder = self._settings.folder / "names"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with Root.open(folder) as root:
            record = msgspec.json.encode(_Pulled(str(wanted), digest))
            root.write(_file_name(wanted), record)

    def _explained(self, wanted: Reference, error: KubevirtError) -> str:
        others = self._local.namesakes(wanted) if wanted.digest else []
        if others:
            return f"{error} (what lies here under that name is {others[0]})"
        problems = self._local.problems
        return f"{error} (and of what lies here: {problems[0]})" if problems else str(error)

    # What is used, and what is not

    def _touch(self, image: Image) -> None:
        """The time of its folder is when it was last used, to the hour."""
        if image.root is None:
            return
        used = image.root.parent.stat().st_mtime
        now = self._clock.now().timestamp()
        if now - used > _HOUR_S:
            os.utime(image.root.parent, (now, now))

    def _collect(self, in_use: frozenset[Path]) -> None:
        now = self._clock.now().timestamp()
        roots, downloads = self._settings.folder / "roots", self._settings.folder / "downloads"
        for left in _in(roots / "work"):
            shutil.rmtree(left, ignore_errors=True)
        for left in _in(downloads):
            if now - left.stat().st_mtime > _DAY_S:
                left.unlink(missing_ok=True)
        for folder in _in(roots / "images"):
            is_old = now - folder.stat().st_mtime > self._settings.unused_days * _DAY_S
            if is_old and not any(each.is_relative_to(folder) for each in in_use):
                _log.info("an image goes that nobody used", digest=folder.name)
                gone = roots / "work" / folder.name
                folder.rename(gone)  # at once: half an image must not be found
                shutil.rmtree(gone, ignore_errors=True)


def _image(wanted: Reference, unpacked: UnpackedImage) -> Image:
    return Image(
        id=f"{wanted.registry}/{wanted.repository}@{unpacked.digest}",
        root=root_of(unpacked),
        config=configuration.read(config_of(unpacked), unpacked.name),
    )


def _addresses(wanted: Reference, settings: ImageSettings) -> dict[str, str]:
    """A registry of this machine speaks plain HTTP; any other only if a mirror is set for it."""
    host = _PORT.sub("", wanted.registry)
    plain = {wanted.registry: f"http://{wanted.registry}"}
    return {**(plain if host in _LOOPBACK else {}), **settings.mirrors}


def _file_name(wanted: Reference) -> str:
    return f"{hashlib.sha256(str(wanted).encode()).hexdigest()}.json"


def _in(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []
