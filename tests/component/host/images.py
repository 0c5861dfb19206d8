"""Container images as tests need them: honest ones and bent ones, in all the ways they are stored."""

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kubevirt.host.oci.manifest import OCI_INDEX, OCI_MANIFEST, this_machine

NAME = "docker.io/kubevirt/demo:latest"
_TAR = "application/vnd.oci.image.layer.v1.tar"


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def entry(
    name: str, *, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, size
    return info


def layer(*items: tuple[str, bytes] | tarfile.TarInfo) -> bytes:
    """A layer of files, by name and content, and of anything else."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for item in items:
            if isinstance(item, tarfile.TarInfo):
                archive.addfile(item)
            else:
                name, content = item
                archive.addfile(entry(name, size=len(content)), io.BytesIO(content))
    return out.getvalue()


def disk(content: bytes = b"the disk", name: str = "disk/demo.img") -> bytes:
    return layer((name, content))


def sparse(size: int) -> bytes:
    """A layer with a file of one byte that claims to be much larger, all of it holes."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = entry("disk/demo.img", size=1)
        info.pax_headers = {
            "GNU.sparse.major": "0",
            "GNU.sparse.minor": "1",
            "GNU.sparse.map": "0,1",
            "GNU.sparse.size": str(size),
        }
        archive.addfile(info, io.BytesIO(b"x"))
    return out.getvalue()


@dataclass
class Image:
    """Its blobs by digest, and the manifest that lists them."""

    layers: Sequence[bytes]
    blobs: dict[str, bytes] = field(default_factory=dict)
    platform: Mapping[str, str] | None = None
    run: Mapping[str, Any] | None = None
    """How it is to be run."""

    def __post_init__(self) -> None:
        config = {
            "architecture": this_machine().architecture,
            "os": "linux",
            **({"config": self.run} if self.run else {}),
            "rootfs": {
                "type": "layers",
                "diff_ids": [digest(each) for each in self.layers],
            },
        }
        self.config = json.dumps(config).encode()
        manifest = {
            "schemaVersion": 2,
            "mediaType": OCI_MANIFEST,
            "config": self.put(self.config, "application/vnd.oci.image.config.v1+json"),
            "layers": [self.put(each, _TAR) for each in self.layers],
        }
        self.manifest = json.dumps(manifest).encode()
        self.descriptor = self.put(self.manifest, OCI_MANIFEST)

    @property
    def digest(self) -> str:
        return digest(self.manifest)

    def put(self, data: bytes, media_type: str) -> dict[str, Any]:
        self.blobs[digest(data)] = data
        return {"mediaType": media_type, "digest": digest(data), "size": len(data)}

    def index(self, name: str = NAME) -> bytes:
        entry = {**self.descriptor, "annotations": {"org.opencontainers.image.ref.name": name}}
        if self.platform:
            entry["platform"] = self.platform
        return json.dumps({"schemaVersion": 2, "manifests": [entry]}).encode()

    def files(self) -> dict[str, bytes]:
        """The layout: what lies where."""
        blobs = {f"blobs/{each.replace(':', '/')}": data for each, data in self.blobs.items()}
        return {
            "oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
            "index.json": self.index(),
            **blobs,
        }

    def folder(self, path: Path) -> Path:
        for name, data in self.files().items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(data)
        return path

    def archive(self, path: Path) -> Path:
        path.write_bytes(layer(*self.files().items()))
        return path

    def docker_archive(self, path: Path) -> Path:
        names = [f"{number}/layer.tar" for number in range(len(self.layers))]
        config = f"{digest(self.config).removeprefix('sha256:')}.json"
        manifest = [{"Config": config, "RepoTags": ["kubevirt/demo:latest"], "Layers": names}]
        items = [*zip(names, self.layers, strict=True), (config, self.config)]
        path.write_bytes(layer(*items, ("manifest.json", json.dumps(manifest).encode())))
        return path


def multi_platform(images: Iterable[tuple[Image, str]]) -> tuple[bytes, dict[str, bytes]]:
    """An index of images for several architectures, and all their blobs."""
    blobs: dict[str, bytes] = {}
    entries = []
    for image, architecture in images:
        blobs |= image.blobs
        entries.append(
            {**image.descriptor, "platform": {"os": "linux", "architecture": architecture}}
        )
    index = {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": entries}
    return json.dumps(index).encode(), blobs
