"""A callee, as an object describes it."""

from typing import Final
from urllib.parse import urlsplit

import msgspec

HTTPS_PORT: Final = 443


class ClientFiles(msgspec.Struct, frozen=True):
    """The certificate that we show, and its key: paths of PEM files."""

    certificate: str
    key: str


class Callee(msgspec.Struct, frozen=True, kw_only=True):
    """By `url`, or by the Service `name` in `namespace`. Without its path: connections are shared by
    all paths.
    """

    url: str = ""
    """Scheme, host and port."""
    namespace: str = ""
    name: str = ""
    port: int = HTTPS_PORT
    authority: bytes = b""
    """Who signs its certificate, PEM; empty for those whom the system trusts."""
    is_unverified: bool = False
    """Whether any certificate will do."""
    client: ClientFiles | None = None
    """None for callees who are not told who calls, such as webhooks."""

    @property
    def host(self) -> str:
        """What its certificate must be for."""
        return (
            f"{self.name}.{self.namespace}.svc" if self.name else urlsplit(self.url).hostname or ""
        )

    @property
    def origin(self) -> str:
        return f"https://{self.host}:{self.port}" if self.name else self.url
