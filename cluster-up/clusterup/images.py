"""Small container images, made here and pushed to the cluster's registry.

An image is one layer of files and a configuration, built in memory and always the same bytes for
the same files. That is all that a pause container, a launcher and the programs of a test need. Those
that others have built come from their archives.
"""

import gzip
import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from clusterup import errors

PAUSE = "registry.k8s.io/pause:3.10"
"""The name under which the nodes look for the image that holds a pod's namespaces."""

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_PLAIN_LAYER = "application/vnd.oci.image.layer.v1.tar"
_LAYER = f"{_PLAIN_LAYER}+gzip"
_NAME = "org.opencontainers.image.ref.name"
_LIMIT = aiohttp.ClientTimeout(total=120, connect=5)
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True)
class File:
    """A file of an image: its content, or the target it links to; or a folder."""

    content: bytes = b""
    mode: int = 0o755
    link: str | None = None
    owner: int = 0
    is_folder: bool = False


@dataclass(frozen=True)
class Blob:
    media_type: str
    content: bytes

    @property
    def digest(self) -> str:
        return "sha256:" + hashlib.sha256(self.content).hexdigest()

    def descriptor(self) -> dict[str, Any]:
        return {"mediaType": self.media_type, "digest": self.digest, "size": len(self.content)}


@dataclass(frozen=True)
class Image:
    manifest: Blob
    blobs: Sequence[Blob] = field(default_factory=tuple)

    def write_layout(self, path: Path, *names: str) -> None:
        """Write it as an OCI layout in a tar file, as `ctr image import` and others read it, by these names."""
        found = self.manifest.descriptor()
        named = [{**found, "annotations": {_NAME: name}} for name in names]
        index = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": named or [found],
        }
        files = {
            "oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
            "index.json": json.dumps(index).encode(),
        }
        for blob in (self.manifest, *self.blobs):
            files["blobs/" + blob.digest.replace(":", "/")] = blob.content
        path.write_bytes(_tar({name: File(content, 0o644) for name, content in files.items()}))


def build(
    files: Mapping[str, File],
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    user: str = "",
    is_compressed: bool = True,
) -> Image:
    """An image of these files (by their path from the root) that runs `command`. A large one is
    sooner where it is needed when it is not compressed.
    """
    plain = _tar(files)
    layer = (
        Blob(_LAYER, gzip.compress(plain, compresslevel=1, mtime=0))
        if is_compressed
        else Blob(_PLAIN_LAYER, plain)
    )
    machine = platform.machine()
    settings = {
        "architecture": _ARCHITECTURES.get(machine, machine),
        "os": "linux",
        "config": {
            "Entrypoint": list(command),
            "Env": [f"{name}={value}" for name, value in (environment or {}).items()]
            or ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
            "User": user,
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(plain).hexdigest()]},
    }
    configuration = Blob(_CONFIG, json.dumps(settings).encode())
    manifest = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": configuration.descriptor(),
        "layers": [layer.descriptor()],
    }
    return Image(Blob(_MANIFEST, json.dumps(manifest).encode()), (configuration, layer))


def read_archive(path: Path) -> dict[str, Image]:
    """The images of an OCI layout in a tar file, by the names that they have there."""
    with tarfile.open(path) as archive:
        files = {
            entry.name: content.read()
            for entry in archive
            if entry.isfile() and (content := archive.extractfile(entry))
        }

    def blob(descriptor: Mapping[str, Any]) -> Blob:
        name = "blobs/" + descriptor["digest"].replace(":", "/")
        return Blob(descriptor["mediaType"], files[name])

    found: dict[str, Image] = {}
    for listed in json.loads(files["index.json"])["manifests"]:
        manifest = blob(listed)
        parts = json.loads(manifest.content)
        if name := listed.get("annotations", {}).get(_NAME):
            found[name] = Image(manifest, tuple(map(blob, (parts["config"], *parts["layers"]))))
    return found


def _tar(files: Mapping[str, File]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        on_the_way = {str(p) for name in files for p in Path(name).parents} - {"."} - files.keys()
        for folder in sorted(on_the_way):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        for name, file in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.mode, entry.uid, entry.gid = file.mode, file.owner, file.owner
            if file.is_folder:
                entry.type = tarfile.DIRTYPE
            if file.link is not None:
                entry.type, entry.linkname = tarfile.SYMTYPE, file.link
            entry.size = 0 if file.link is not None else len(file.content)
            archive.addfile(entry, io.BytesIO(file.content))
    return out.getvalue()


def repository(reference: str) -> tuple[str, str]:
    """Path and tag of an image, without its registry: what a mirror of all registries knows it by."""
    first, slash, rest = reference.partition("/")
    has_host = bool(slash) and ("." in first or ":" in first or first == "localhost")
    path = rest if has_host else reference
    name, _, tag = path.partition(":")
    if not (has_host and first != "docker.io") and "/" not in name:
        # Docker's short names: `busybox` is `docker.io/library/busybox`.
        name = f"library/{name}"
    return name, tag or "latest"


async def push(registry: str, reference: str, image: Image) -> None:
    """Put an image into a registry (HOST:PORT, plain HTTP) under the path and tag of `reference`."""
    name, tag = repository(reference)
    base = f"http://{registry}/v2/{name}"
    try:
        async with aiohttp.ClientSession(timeout=_LIMIT, trust_env=False) as session:
            for blob in image.blobs:
                await _push_blob(session, base, blob)
            headers = {"Content-Type": image.manifest.media_type}
            url = f"{base}/manifests/{tag}"
            async with session.put(url, data=image.manifest.content, headers=headers) as answer:
                await _check(answer, reference)
    except (aiohttp.ClientError, TimeoutError) as error:
        raise errors.Broken(f"pushing {reference} to {registry} failed: {error!r}") from error


async def _push_blob(session: aiohttp.ClientSession, base: str, blob: Blob) -> None:
    async with session.head(f"{base}/blobs/{blob.digest}") as answer:
        if answer.ok:
            return
    async with session.post(f"{base}/blobs/uploads/") as answer:
        await _check(answer, blob.digest)
        target = answer.url.join(_location(answer))
    target = target.update_query(digest=blob.digest)
    headers = {"Content-Type": "application/octet-stream"}
    async with session.put(target, data=io.BytesIO(blob.content), headers=headers) as answer:
        await _check(answer, blob.digest)


def _location(answer: aiohttp.ClientResponse) -> Any:
    return type(answer.url)(answer.headers["Location"])


async def _check(answer: aiohttp.ClientResponse, what: str) -> None:
    if not answer.ok:
        said = (await answer.text())[:400]
        raise errors.Broken(f"the registry refused {what}: {answer.status} {said}")
