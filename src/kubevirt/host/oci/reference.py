"""Names of images, as manifests spell them: `[host[:port]/]path[:tag][@digest]`."""

import re
from typing import Final

import msgspec

from kubevirt.host.oci.errors import ContainerImageError, shown

DEFAULT_REGISTRY: Final = "docker.io"
DEFAULT_TAG: Final = "latest"

_HOST: Final = re.compile(
    r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?|\[[0-9a-f:]+\](:[0-9]{1,5})?"
)
_PART: Final = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_PATH: Final = re.compile(rf"{_PART}(?:/{_PART})*")
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_LENGTH_LIMIT: Final = 512


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    registry: str
    repository: str
    tag: str | None
    digest: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Reference":
        """Short names get the registry, the folder and the tag that Docker gives them."""
        name, _, digest = text.partition("@")
        first, slash, rest = name.partition("/")
        has_host = bool(slash) and ("." in first or ":" in first or first == "localhost")
        registry, path = (first, rest) if has_host else (DEFAULT_REGISTRY, name)
        path, colon, tag = path.partition(":")
        if registry == DEFAULT_REGISTRY and "/" not in path:
            path = f"library/{path}"
        well_formed = (
            len(text) <= _LENGTH_LIMIT
            and _HOST.fullmatch(registry)
            and _PATH.fullmatch(path)
            and ("@" not in text or _DIGEST.fullmatch(digest))
            and (not colon or _TAG.fullmatch(tag))
        )
        if not well_formed:
            raise ContainerImageError(
                f"{shown(text)} names no image; write it as registry/path:tag or path@sha256:…",
                reason="InvalidImageName",
            )
        return cls(
            registry=registry,
            repository=path,
            tag=tag or (None if digest else DEFAULT_TAG),
            digest=digest or None,
        )

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        digest = f"@{self.digest}" if self.digest else ""
        return f"{self.registry}/{self.repository}{tag}{digest}"


def is_digest(text: str) -> bool:
    return bool(_DIGEST.fullmatch(text))
