"""Container images of the guest: an OCI layout in one tar file, always the same bytes.

The layer is not compressed. What it carries is, and so its digest does not depend on which zlib a
machine happens to have.
"""

import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

QEMU_USER = 107
"""Who owns a container disk's files: the user that QEMU runs as in a launcher."""

_INDEX = "application/vnd.oci.image.index.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar"


@dataclass(frozen=True)
class Blob:
    media_type: str
    content: bytes

    @property
    def digest(self) -> str:
        return "sha256:" + hashlib.sha256(self.content).hexdigest()

    def descriptor(self) -> dict[str, Any]:
        return {"mediaType": self.media_type, "digest": self.digest, "size": len(self.content)}


def write(files: Mapping[str, Path], names: Iterable[str], path: Path) -> None:
    """An archive of one image that holds `files` and is known by all of `names`."""
    layer = Blob(_LAYER, _layer(files))
    config = Blob(_CONFIG, _json(_config(layer)))
    manifest = Blob(
        _MANIFEST,
        _json(
            {
                "schemaVersion": 2,
                "mediaType": _MANIFEST,
                "config": config.descriptor(),
                "layers": [layer.descriptor()],
            }
        ),
    )
    index = {
        "schemaVersion": 2,
        "mediaType": _INDEX,
        "manifests": [_named(manifest, name) for name in names],
    }
    contents = {"oci-layout": _json({"imageLayoutVersion": "1.0.0"}), "index.json": _json(index)}
    for blob in (manifest, config, layer):
        contents["blobs/" + blob.digest.replace(":", "/")] = blob.content
    path.write_bytes(_tar(contents, owner=0, mode=0o644))


def _named(manifest: Blob, name: str) -> dict[str, Any]:
    # The first is the standard's, the second is what containerd's import stores the image under.
    annotations = {"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name}
    return {**manifest.descriptor(), "platform": _PLATFORM, "annotations": annotations}


_PLATFORM = {"architecture": "amd64", "os": "linux"}


def _config(layer: Blob) -> dict[str, Any]:
    return {
        **_PLATFORM,
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [layer.digest]},
        "history": [{"created_by": "guestimage"}],
    }


def _layer(files: Mapping[str, Path]) -> bytes:
    return _tar(
        {name: path.read_bytes() for name, path in files.items()}, owner=QEMU_USER, mode=0o440
    )


def _tar(contents: Mapping[str, bytes], *, owner: int, mode: int) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        folders = {str(parent) for name in contents for parent in Path(name).parents} - {"."}
        for folder in sorted(folders):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, 0o755, owner, owner
            archive.addfile(entry)
        for name, content in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.uid, entry.gid = len(content), mode, owner, owner
            archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
