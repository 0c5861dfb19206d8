"""A proxy in front of the server says who somebody is; it is believed if its certificate says it may be.

The same headers are what the server itself sends to an aggregated API.
"""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from kubevirt.apiserver.auth.certificates import ClientCertificates
from kubevirt.apiserver.auth.credentials import BadCredentials, Credentials
from kubevirt.apiserver.registry.identity import Identity


class FrontProxySettings(msgspec.Struct, frozen=True, kw_only=True):
    allowed_names: tuple[str, ...] = ("front-proxy-client",)
    """Common names of proxies. None means any that the authority signed, as in Kubernetes."""
    user_header: str = "X-Remote-User"
    uid_header: str = "X-Remote-Uid"
    group_header: str = "X-Remote-Group"
    extra_prefix: str = "X-Remote-Extra-"


class FrontProxy:
    def __init__(self, certificates: ClientCertificates, settings: FrontProxySettings) -> None:
        self._certificates = certificates
        self._settings = settings

    def identify(self, credentials: Credentials, now: datetime) -> Identity | None:
        """None if nobody is named; raises if the one who says it may not."""
        if not credentials.certificate:
            return None
        proxy = self._certificates.verify(credentials.certificate, now)
        allowed = self._settings.allowed_names
        if allowed and proxy.name not in allowed:
            raise BadCredentials(f"x509: subject with cn={proxy.name} is not in the allowed list")
        headers = credentials.headers
        user = headers.first(self._settings.user_header)
        if not user:
            return None
        return Identity(
            user=user,
            uid=headers.first(self._settings.uid_header),
            groups=tuple(each for each in headers.all(self._settings.group_header) if each),
            extra=dict(headers.below(self._settings.extra_prefix)),
        )


def headers_for(
    identity: Identity, settings: FrontProxySettings | None = None
) -> Iterator[tuple[str, str]]:
    """What to send to a server that believes us."""
    settings = settings or FrontProxySettings()
    yield settings.user_header, identity.user
    if identity.uid:
        yield settings.uid_header, identity.uid
    for group in identity.groups:
        yield settings.group_header, group
    for key, values in identity.extra.items():
        for value in values:
            yield f"{settings.extra_prefix}{_escaped(key)}", value


def _escaped(key: str) -> str:
    """Percent signs for all that a header's name cannot hold."""
    return "".join(
        each if each.isascii() and (each.isalnum() or each in "!#$&'*+-.^_`|~") else _percent(each)
        for each in key
    )


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())
