"""Who asks: what a request shows to the server to be let in.

`Credentials` are asked before each request, so that a rotated token or certificate is used at once.
When the server refuses an identity (401), they are asked to renew it, and the request is made once
more. `exec_plugin.py` has the credentials that another program fetches.

Nothing here may show a secret: not in a repr, not in a message.
"""

import base64
from dataclasses import dataclass, field
from typing import Protocol

from kubevirt.base.clock import Clock
from kubevirt.base.errors import ConfigError
from kubevirt.kube.access.material import Material


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A client certificate and its private key, both PEM."""

    certificate: bytes = field(repr=False)
    key: bytes = field(repr=False)
    where: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Identity:
    """What one request shows."""

    authorization: str = field(default="", repr=False)
    """The value of the header, scheme included; empty for none."""

    key_pair: KeyPair | None = None


class Credentials(Protocol):
    async def identity(self, clock: Clock) -> Identity: ...

    async def renew(self, refused: Identity, clock: Clock) -> bool:
        """The server refused this identity. True when another one is worth a try."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldCredentials:
    """Tokens, certificates and passwords from a configuration and the files it names; or nothing."""

    token: Material | None = None
    certificate: Material | None = None
    key: Material | None = None
    username: str = ""
    password: str = field(default="", repr=False)

    def held(self) -> Identity:
        return Identity(self._authorization(), self._key_pair())

    async def identity(self, clock: Clock) -> Identity:  # noqa: ARG002  # the protocol's
        return self.held()

    async def renew(self, refused: Identity, clock: Clock) -> bool:
        return await self.identity(clock) != refused

    def _authorization(self) -> str:
        if self.token is not None:
            return bearer(self.token.read(), self.token.where)
        if self.username:
            pair = f"{self.username}:{self.password}".encode()
            return f"Basic {base64.b64encode(pair).decode()}"
        return ""

    def _key_pair(self) -> KeyPair | None:
        if self.certificate is None or self.key is None:
            return None
        return KeyPair(self.certificate.read(), self.key.read(), self.certificate.where)


def bearer(token: bytes, where: str) -> str:
    """The header of a token; refuses what would break the header, without showing it."""
    stripped = token.strip()
    if not stripped or not all(0x21 <= byte <= 0x7E for byte in stripped):
        raise ConfigError(
            f"the {where} holds no bearer token: it is empty, or has spaces or control characters"
            " in it; write the token alone"
        )
    return f"Bearer {stripped.decode('ascii')}"
