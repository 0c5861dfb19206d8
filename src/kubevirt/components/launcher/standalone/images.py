"""Container images of a run: from archives on this machine, else from a registry.

A folder of archives answers to the names that its archives carry inside, so the guest that `make
guest-image` builds runs under the names of KubeVirt's examples, with no registry in reach.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.volumes import ContainerDiskSource
from kubevirt.base.clock import Clock
from kubevirt.components.launcher.standalone.manifest import Files
from kubevirt.components.launcher.standalone.mounts import Mount
from kubevirt.components.launcher.standalone.progress import Progress
from kubevirt.components.launcher.standalone.pull_secrets import logins
from kubevirt.host.oci.cache import ImageCache
from kubevirt.host.oci.errors import ContainerImageError
from kubevirt.host.oci.layout import OciArchive
from kubevirt.host.oci.reference import Reference
from kubevirt.host.oci.source import Source
from kubevirt.host.oci.unpacked import UnpackedImage
from kubevirt.virt.layout import Layout
from kubevirt.virt.volumes.source import source_of

NOT_HERE: Final = "ImageNotFound"


class Images:
    def __init__(
        self,
        cache: Path,
        folders: Sequence[Path],
        secrets: Mapping[str, Files],
        progress: Progress,
        clock: Clock,
    ) -> None:
        self._cache = cache
        self._images = ImageCache(cache, clock)
        self._folders = folders
        self._secrets = secrets
        self._progress = progress
        self._clock = clock

    async def mounts(self, vmi: VirtualMachineInstance, layout: Layout) -> tuple[Mount, ...]:
        """The disks and kernels in images, each where the launcher looks for it."""
        found: list[Mount] = []
        for index, volume in enumerate(vmi.spec.volumes):
            source = source_of(volume)
            if isinstance(source, ContainerDiskSource):
                image = await self._unpacked(source.image, source.image_pull_secret)
                disk = image.disk(source.path)
                found.append(Mount(source=disk, target=layout.container_disk(index)))
        firmware = vmi.spec.domain.firmware
        boot = firmware.kernel_boot if firmware else None
        if boot and boot.container:
            image = await self._unpacked(boot.container.image, boot.container.image_pull_secret)
            paths = filter(None, (boot.container.kernel_path, boot.container.initrd_path))
            found += [
                Mount(source=image.file(path), target=layout.kernel_boot(path)) for path in paths
            ]
        return tuple(found)

    async def _unpacked(self, name: str, secret: str | None) -> UnpackedImage:
        with self._progress.stage("disks", f"image {name}") as stage:
            for archive in _archives(self._folders):
                try:
                    return await self._images.unpacked(OciArchive(archive), name)
                except ContainerImageError as error:
                    if error.reason != NOT_HERE:
                        raise
            async with self._registry(secret) as registry:
                stage.goes_on(f"pulling {Reference.parse(name)}")
                return await self._images.unpacked(registry, name, progress=stage.bytes)

    @asynccontextmanager
    async def _registry(self, secret: str | None) -> AsyncIterator[Source]:
        # Its library weighs as much as all the rest; most runs never need it.
        from kubevirt.host.oci.authorization import Credentials  # noqa: PLC0415
        from kubevirt.host.oci.registry import Registry, RegistrySettings  # noqa: PLC0415

        known = logins(self._secrets, secret) if secret else {}
        settings = RegistrySettings(
            credentials={
                place: Credentials(user=user, password=password)
                for place, (user, password) in known.items()
            }
        )
        async with Registry(self._cache / "blobs", self._clock, settings) as registry:
            yield registry


def _archives(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(folder.glob("*.tar"))


def guest_folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """What `make guest-image` has built, the latest first."""
    if chosen := environment.get("KUBEVIRT_CACHE"):
        cache = Path(chosen)
    else:
        base = environment.get("XDG_CACHE_HOME")
        home = Path(environment.get("HOME", "/"))
        cache = (Path(base) if base else home / ".cache") / "kubevirt-py"
    built = cache.glob("guest/image/*/sums.json")
    latest = sorted(built, key=lambda file: file.stat().st_mtime, reverse=True)
    return tuple(file.parent for file in latest[:1])
