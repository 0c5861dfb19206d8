"""How a registry wants to be asked: freely, with a password, or with a token from somewhere else."""

import base64
import re
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import aiohttp
import msgspec

from kubevirt.host.oci.answers import body
from kubevirt.host.oci.errors import ContainerImageError, RegistryError, shown

_CHALLENGE: Final = re.compile(r'([a-z_]+)="([^"]{0,2048})"')
_ANSWER_LIMIT: Final = 1 << 16


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    user: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials(user={self.user!r})"  # it may end up in a log

    def header(self) -> str:
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()


class _Token(msgspec.Struct, frozen=True, kw_only=True):
    token: str = ""
    access_token: str = ""


async def authorize(
    session: aiohttp.ClientSession,
    challenge: str,
    registry: str,
    credentials: Credentials | None,
    image: str,
) -> str:
    """The header that answers a challenge of the registry at that URL."""
    scheme, _, rest = challenge.partition(" ")
    if scheme.lower() == "bearer":
        return f"Bearer {await _token(session, rest, registry, credentials, image)}"
    if scheme.lower() == "basic" and credentials:
        return credentials.header()
    raise ContainerImageError(
        f"image {image} cannot be pulled: its registry asks who we are; give a pull secret for it",
        reason="ImagePullUnauthorized",
    )


async def _token(
    session: aiohttp.ClientSession,
    challenge: str,
    registry: str,
    credentials: Credentials | None,
    image: str,
) -> str:
    said = dict(_CHALLENGE.findall(challenge))
    realm = urlsplit(said.get("realm", ""))
    # A registry that is asked safely must not make us send our password where everybody reads it.
    if realm.scheme != "https" and not realm.scheme == urlsplit(registry).scheme == "http":
        raise ContainerImageError(
            f"image {image} cannot be pulled: for a token its registry sends us to "
            f"{shown(realm.geturl())}, which is not encrypted"
        )
    asked = [(name, said[name]) for name in ("service", "scope") if name in said]
    query = urlencode([*parse_qsl(realm.query), *asked])
    headers = {"Authorization": credentials.header()} if credentials else {}
    url = urlunsplit(realm._replace(query=query))
    async with session.get(url, headers=headers, allow_redirects=False) as answer:
        if answer.status in (401, 403):
            raise ContainerImageError(
                f"image {image} cannot be pulled: its registry gives us no token; check the pull "
                f"secret",
                reason="ImagePullUnauthorized",
            )
        data = await body(answer, _ANSWER_LIMIT)
        if answer.status != 200 or data is None:
            raise RegistryError(
                f"image {image} cannot be pulled now: asked for a token, {realm.hostname} answers "
                f"{answer.status}"
            )
    return _token_in(data, image)


def _token_in(data: bytes, image: str) -> str:
    try:
        answer = msgspec.json.decode(data, type=_Token)
    except msgspec.DecodeError:
        answer = _Token()
    token = answer.token or answer.access_token
    if not token or not token.isascii() or not token.isprintable():
        raise RegistryError(f"image {image} cannot be pulled now: its registry gives no token")
    return token
