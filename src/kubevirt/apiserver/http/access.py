"""The door: who comes in, and what they may. Both are ports; what stands here is the least of both.

A client shows a bearer token or a certificate that the settings know; whoever shows neither is
anonymous and may only ask how the server is. Service accounts, front proxies and RBAC are other
implementations of the same two protocols, in `doors.py`.
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from aiohttp import web

from kubevirt.apiserver.auth.decision import forbidden
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.refusals import unauthorized
from kubevirt.apiserver.registry.identity import ANONYMOUS, MASTERS, Identity

AUTHENTICATED: Final = "system:authenticated"
OPEN_TO_ALL: Final = ("/healthz", "/livez", "/readyz", "/version")


class Authenticator(Protocol):
    async def identify(self, request: web.BaseRequest) -> Identity:
        """Raises a refusal for credentials that are no good."""
        ...


class Authorizer(Protocol):
    async def authorize(self, asked: Asked, identity: Identity) -> None:
        """Raises a refusal for what this one may not do."""
        ...


class KnownClients:
    """By token, or by a certificate that the TLS layer has checked already."""

    def __init__(self, tokens: Mapping[str, Identity]) -> None:
        self._tokens = dict(tokens)

    async def identify(self, request: web.BaseRequest) -> Identity:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            found = self._tokens.get(token.strip())
            if found is None:
                raise unauthorized()
            return found
        return _certified(request) or ANONYMOUS


def _certified(request: web.BaseRequest) -> Identity | None:
    """The name is the common name, the groups are the organisations."""
    if request.transport is None:
        return None
    certificate: Mapping[str, Any] | None = request.transport.get_extra_info("peercert")
    if not certificate:
        return None
    pairs = [pair for part in certificate.get("subject", ()) for pair in part]
    user = next((value for name, value in pairs if name == "commonName"), "")
    groups = tuple(value for name, value in pairs if name == "organizationName")
    return Identity(user=user, groups=(*groups, AUTHENTICATED)) if user else None


class MastersOnly:
    """Everything for administrators, nothing for others but how the server is."""

    async def authorize(self, asked: Asked, identity: Identity) -> None:
        if MASTERS in identity.groups:
            return
        if asked.verb == "get" and asked.path in OPEN_TO_ALL:
            return
        raise forbidden(asked, identity)
