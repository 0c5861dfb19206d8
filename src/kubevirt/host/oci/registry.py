"""Images from a registry, by the distribution API: tokens, indexes, digests, broken connections.

    async with Registry(folder, clock) as registry:
        image = await images.unpacked(registry, "quay.io/kubevirt/cirros-container-disk-demo")

A registry is a stranger, and so is whoever it sends us on to. What it says is bounded in size and
time, and counts only when its digest fits. A blob that broke off half-way is kept and continued,
also by the next process. On a cluster the kubelet pulls images; this is for one machine.

This file imports aiohttp: import it where an image is pulled, not before.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import aiohttp
import msgspec

from kubevirt.base.clock import Clock
from kubevirt.host.oci.answers import body, check
from kubevirt.host.oci.authorization import Credentials, authorize
from kubevirt.host.oci.download import Download
from kubevirt.host.oci.errors import ContainerImageError, RegistryError
from kubevirt.host.oci.layout import Part
from kubevirt.host.oci.lock import locked
from kubevirt.host.oci.manifest import (
    ACCEPTED,
    MANIFEST_LIMIT,
    Descriptor,
    Index,
    Platform,
    Resolved,
    chosen,
    decoded,
    digest_of,
    is_index,
    resolved,
)
from kubevirt.host.oci.reference import DEFAULT_REGISTRY, Reference
from kubevirt.host.oci.source import Blob, Progress

_STEP: Final = 1 << 20
_DEPTH: Final = 4
"""How deep an index may lead to another index."""
_HUB: Final = "https://registry-1.docker.io"
"""Where names without a host really live."""


class RegistrySettings(msgspec.Struct, frozen=True, kw_only=True):
    addresses: Mapping[str, str] = msgspec.field(default_factory=dict)
    """URL to ask instead of a registry of that name: a mirror, or one that speaks plain HTTP."""
    credentials: Mapping[str, Credentials] = msgspec.field(default_factory=dict)
    """By the registry's name."""
    redirects: int = 5
    """How often a registry may send us on: blobs often lie elsewhere."""
    attempts: int = 5
    """How often in a row a blob may break off without a byte gained."""
    pause_s: float = 1.0
    """Seconds before the next attempt, doubled each time."""
    connect_s: float = 10.0
    silence_s: float = 60.0
    """Seconds without a byte after which a connection counts as broken."""


class Registry:
    """A `Source` of images. Layers wait in `folder` to be unpacked; several processes may share it."""

    def __init__(
        self, folder: str | Path, clock: Clock, settings: RegistrySettings | None = None
    ) -> None:
        self._folder = Path(folder)
        self._clock = clock
        self._settings = settings or RegistrySettings()
        self._answers = dict[tuple[str, str], str]()
        """What each repository wants to hear in Authorization."""
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        timeout = aiohttp.ClientTimeout(
            total=None,
            sock_connect=self._settings.connect_s,
            sock_read=self._settings.silence_s,
        )
        # What is hashed are the bytes as they are stored, so nothing is unpacked on the way.
        self._session = aiohttp.ClientSession(timeout=timeout, auto_decompress=False)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session:
            await self._session.close()

    async def resolve(self, name: str, wanted: Platform) -> Resolved:
        image = Reference.parse(name)
        data, media_type = await self._manifest(image, image.digest or image.tag or "")
        digest = digest_of(data)
        if image.digest and digest != image.digest:
            raise _changed(image, "manifest")
        for _ in range(_DEPTH):
            if not is_index(data, media_type):
                return resolved(data, digest, str(image))
            entry = chosen(decoded(data, Index, str(image)), wanted, str(image))
            data, media_type = await self._manifest(image, entry.digest)
            digest = digest_of(data)
            if digest != entry.digest:
                raise _changed(image, "manifest")
        raise ContainerImageError(f"image {image} is refused: its indexes lead on and on")

    async def fetch(self, layer: Descriptor, image: Resolved, progress: Progress) -> Blob:
        path = self._path(layer)
        async with locked(path.with_suffix(".lock"), self._clock):
            if not path.exists():
                await self._pull(Reference.parse(image.name), layer, path, progress)
        progress(layer.size, layer.size)
        return Part(path, 0, layer.size)

    def release(self, image: Resolved) -> None:
        for blob in (*image.layers, *([image.config] if image.config else [])):
            self._path(blob).unlink(missing_ok=True)

    def _path(self, layer: Descriptor) -> Path:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder / layer.hex

    async def _manifest(self, image: Reference, wanted: str) -> tuple[bytes, str]:
        headers = {"Accept": ", ".join(ACCEPTED)}
        async with self._get(image, f"manifests/{wanted}", headers) as answer:
            check(answer, image, "manifest")
            data = await body(answer, MANIFEST_LIMIT)
            if data is None:
                raise ContainerImageError(
                    f"image {image} is refused: its manifest has more than {MANIFEST_LIMIT} bytes"
                )
            return data, answer.content_type

    async def _pull(
        self, image: Reference, layer: Descriptor, path: Path, progress: Progress
    ) -> None:
        """Until the blob is whole. A try that came further than all before is no failure."""
        failures = farthest = 0
        with Download(path, layer) as download:
            await asyncio.to_thread(download.catch_up)
            while True:
                try:
                    await self._continue(image, layer, download, progress)
                except RegistryError:
                    failures = failures + 1 if download.done <= farthest else 1
                    farthest = max(farthest, download.done)
                    if failures >= self._settings.attempts:
                        raise
                    await self._clock.sleep(self._settings.pause_s * 2 ** (failures - 1))
                    continue
                # What an older process left may be wrong, and is then worth one more try.
                again = download.was_continued
                if await asyncio.to_thread(download.finish):
                    return
                if not again:
                    raise _changed(image, "layer")
                failures = farthest = 0

    async def _continue(
        self, image: Reference, layer: Descriptor, download: Download, progress: Progress
    ) -> None:
        if download.is_whole:
            return
        headers = {"Range": f"bytes={download.done}-"} if download.done else {}
        async with self._get(image, f"blobs/{layer.digest}", headers) as answer:
            if download.done and not _goes_on(answer, download.done):
                download.restart()
                if answer.status != 200:
                    raise RegistryError(
                        f"image {image} cannot be pulled now: the registry does not go on where it "
                        f"broke off"
                    )
            check(answer, image, "layer")
            async for chunk in answer.content.iter_chunked(_STEP):
                if download.done + len(chunk) > layer.size:
                    raise ContainerImageError(
                        f"image {image} is refused: a layer has more than the {layer.size} bytes "
                        f"that its manifest says"
                    )
                await asyncio.to_thread(download.write, chunk)
                progress(download.done, layer.size)
        if not download.is_whole:
            raise RegistryError(
                f"image {image} cannot be pulled now: a layer broke off after {download.done} of "
                f"{layer.size} bytes"
            )

    @asynccontextmanager
    async def _get(
        self, image: Reference, path: str, headers: Mapping[str, str]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Asks, and once more with an answer to the registry's challenge."""
        try:
            async with self._ask(image, path, headers) as answer:
                challenge = answer.headers.get("WWW-Authenticate", "")
                if answer.status != 401 or not challenge:
                    yield answer
                    return
            self._answers[image.registry, image.repository] = await authorize(
                self._connected,
                challenge,
                self._address(image),
                self._settings.credentials.get(image.registry),
                str(image),
            )
            async with self._ask(image, path, headers) as answer:
                yield answer
        except aiohttp.TooManyRedirects:
            raise RegistryError(
                f"image {image} cannot be pulled now: the registry sends us on and on"
            ) from None
        except (aiohttp.ClientError, TimeoutError) as error:
            why = str(error) or "it does not answer"
            raise RegistryError(f"image {image} cannot be pulled now: {why}") from None

    @asynccontextmanager
    async def _ask(
        self, image: Reference, path: str, headers: Mapping[str, str]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        known = self._answers.get((image.registry, image.repository))
        async with self._connected.get(
            f"{self._address(image)}/v2/{image.repository}/{path}",
            headers={
                "Accept-Encoding": "identity",
                **headers,
                **({"Authorization": known} if known else {}),
            },
            max_redirects=self._settings.redirects,
        ) as answer:
            yield answer

    def _address(self, image: Reference) -> str:
        usual = _HUB if image.registry == DEFAULT_REGISTRY else f"https://{image.registry}"
        return self._settings.addresses.get(image.registry, usual).rstrip("/")

    @property
    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("a registry is asked inside `async with`")
        return self._session


def _goes_on(answer: aiohttp.ClientResponse, start: int) -> bool:
    """Whether a registry sends the rest, and not all of it again."""
    said = answer.headers.get("Content-Range", "")
    return answer.status == 206 and said.startswith(f"bytes {start}-")


def _changed(image: Reference, what: str) -> ContainerImageError:
    return ContainerImageError(
        f"image {image} was changed on the way: its {what} does not match its digest"
    )
