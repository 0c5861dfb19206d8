"""Pull secrets: who we are to which registry, from the file that `docker login` writes."""

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from kubevirt.host.oci.authorization import Credentials
from kubevirt.host.oci.reference import DEFAULT_REGISTRY, Reference

_HUB_NAMES: Final = ("index.docker.io", "registry-1.docker.io", DEFAULT_REGISTRY)


class _Login(msgspec.Struct, frozen=True):
    auth: str = ""
    username: str = ""
    password: str = ""


class _File(msgspec.Struct, frozen=True):
    auths: Mapping[str, _Login] = {}


def credentials_for(image: Reference, secrets: Iterable[bytes]) -> list[Credentials]:
    """All that may open the door, those of the longest path first, each once."""
    found = [
        (len(place), credentials)
        for secret in secrets
        for place, login in _logins(secret).items()
        if _is_for(place, image) and (credentials := _credentials(login))
    ]
    found.sort(key=lambda each: -each[0])
    return list(dict.fromkeys(credentials for _, credentials in found))


def _logins(secret: bytes) -> Mapping[str, _Login]:
    """A secret that cannot be read opens nothing; the registry will say so."""
    try:
        return msgspec.json.decode(secret, type=_File).auths
    except (msgspec.DecodeError, RecursionError):
        return {}


def _is_for(place: str, image: Reference) -> bool:
    """A registry, or a part of one: with or without https:// and Docker's own /v1/."""
    host, _, path = place.partition("://")[2 if "://" in place else 0].partition("/")
    path = path.strip("/")
    registry = DEFAULT_REGISTRY if host in _HUB_NAMES else host
    inside = path in ("", "v1", "v2") or f"{image.repository}/".startswith(f"{path}/")
    return registry == image.registry and inside


def _credentials(login: _Login) -> Credentials | None:
    if login.username:
        return Credentials(user=login.username, password=login.password)
    try:
        user, colon, password = base64.b64decode(login.auth, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    return Credentials(user=user, password=password) if colon else None
