"""What a Secret of type kubernetes.io/dockerconfigjson says: who we are, registry by registry."""

import base64
import binascii
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import msgspec

from kubevirt.base.errors import UserError
from kubevirt.components.launcher.standalone.manifest import Files
from kubevirt.virt.errors import shown

KEY: Final = ".dockerconfigjson"
_HUB: Final = ("index.docker.io", "registry-1.docker.io")

Login = tuple[str, str]
"""User and password."""


class _Entry(msgspec.Struct, frozen=True):
    auth: str = ""
    username: str = ""
    password: str = ""


class _Config(msgspec.Struct, frozen=True):
    auths: Mapping[str, _Entry] = msgspec.field(default_factory=dict)


def logins(secrets: Mapping[str, Files], name: str) -> Mapping[str, Login]:
    """By registry. Its password stands in no sentence of ours."""
    what = f"the image pull secret {shown(name)}"
    if name not in secrets:
        raise UserError(
            f"{what} is not there; put it into the same file, behind a line of three dashes",
            reason="SecretNotFound",
        )
    try:
        config = msgspec.json.decode(secrets[name][KEY], type=_Config)
        return {_registry(place): _login(entry) for place, entry in config.auths.items()}
    except (KeyError, ValueError, msgspec.DecodeError, binascii.Error):
        raise UserError(
            f"{what} has no usable entry {KEY}; make it with: "
            f"kubectl create secret docker-registry --dry-run=client -o yaml",
            reason="InvalidPullSecret",
        ) from None


def _login(entry: _Entry) -> Login:
    if entry.username:
        return entry.username, entry.password
    user, colon, password = base64.b64decode(entry.auth, validate=True).decode().partition(":")
    if not colon:
        raise ValueError("no password")
    return user, password


def _registry(place: str) -> str:
    """Docker writes a URL for its own, and a name for all others."""
    host = urlsplit(place if "://" in place else f"//{place}").netloc
    return "docker.io" if host in _HUB else host
