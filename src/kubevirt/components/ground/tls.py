"""TLS with certificates from files, always as they are now.

    server = ServerTls(Files(certificate, key), clients=authority)
    await open_server(ssl=server.context)      # once; a renewed certificate is shown from the next handshake on

    client = ClientTls(authority, Files(certificate, key))
    connect(ssl=client.context())              # before each connection

Whoever renews files may do it in several steps. While they do not fit together, the last good ones are used.
"""

import os
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.base.errors import ConfigError
from kubevirt.base.log import get_logger

log = get_logger(__name__)

_OLDEST: Final = {
    "VersionTLS10": ssl.TLSVersion.TLSv1,
    "VersionTLS11": ssl.TLSVersion.TLSv1_1,
    "VersionTLS12": ssl.TLSVersion.TLSv1_2,
    "VersionTLS13": ssl.TLSVersion.TLSv1_3,
}

Seen = tuple[tuple[int, ...], ...]


class Files(msgspec.Struct, frozen=True):
    """A certificate and its key, both PEM."""

    certificate: Path
    key: Path


class ServerTls:
    """Of one port. Clients show a certificate if they have one; whether they must is for who reads
    the request, since webhooks come without and the aggregator with.
    """

    def __init__(
        self, files: Files, *, clients: Path | None = None, is_demanding: bool = False
    ) -> None:
        """`clients` is who vouches for clients; `is_demanding` ends connections of those without."""
        self._files = files
        self._clients = clients
        self._is_demanding = is_demanding
        watched = [files.certificate, files.key, *([clients] if clients else ())]
        self._fresh = _Fresh(watched, self._make)
        self.context: ssl.SSLContext = self._make()
        self.context.sni_callback = self._show_current

    def follow(self, configuration: KubeVirtConfiguration) -> None:
        """What the KubeVirt object says of TLS, for connections from now on."""
        wanted = configuration.tls_configuration
        name = (wanted and wanted.min_tls_version) or "VersionTLS12"
        self.context.minimum_version = _OLDEST.get(name, ssl.TLSVersion.TLSv1_2)

    def _show_current(
        self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _: ssl.SSLContext
    ) -> None:
        connection.context = self._fresh.context()

    def _make(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(self._files.certificate, self._files.key)
        if self._clients:
            context.load_verify_locations(self._clients)
            context.verify_mode = ssl.CERT_REQUIRED if self._is_demanding else ssl.CERT_OPTIONAL
        return context


class ClientTls:
    """Whom we believe, and what we show to them."""

    def __init__(self, authority: Path, files: Files | None = None) -> None:
        self._authority = authority
        self._files = files
        watched = [authority, *([files.certificate, files.key] if files else ())]
        self._fresh = _Fresh(watched, self._make)

    def context(self) -> ssl.SSLContext:
        return self._fresh.context()

    def _make(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.verify_flags |= (
            ssl.VERIFY_X509_PARTIAL_CHAIN
        )  # as Go: what we are given is an anchor
        context.load_verify_locations(self._authority)
        if self._files:
            context.load_cert_chain(self._files.certificate, self._files.key)
        return context


class _Fresh:
    """A context that is made anew when one of its files is another one."""

    def __init__(self, watched: Sequence[Path], make: Callable[[], ssl.SSLContext]) -> None:
        self._watched = watched
        self._make = make
        self._seen: Seen = ()
        self._context: ssl.SSLContext | None = None

    def context(self) -> ssl.SSLContext:
        try:
            seen = tuple(_fingerprint(each) for each in self._watched)
            if self._context is None or seen != self._seen:
                self._context, self._seen = self._make(), seen
        except (OSError, ssl.SSLError) as error:  # the latter is one of the former, and says more
            if self._context is None:
                raise ConfigError(f"certificates cannot be used: {error}; restore them") from None
            log.warning("changed certificates cannot be used yet", reason=str(error))
        return self._context


def _fingerprint(path: Path) -> tuple[int, ...]:
    """Follows links: that is how a mounted Secret is replaced."""
    found = os.stat(path)  # noqa: PTH116  # at each handshake
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
