"""The door: who comes in, and what they may. Both are ports; what stands here is the least of both.

A client shows a bearer token or a certificate that the settings know; whoever shows neither is
anonymous and may only ask how the server is. Service accounts, front proxies and RBAC will be other
implementations of the same two protocols.
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from aiohttp import web

from kubevirt.api.meta import StatusDetails
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.refusals import Refusal, refusal, unauthorized
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
        if asked.verb == "get" and asked.path.startswith(OPEN_TO_ALL):
            return
        raise forbidden(asked, identity)


def forbidden(asked: Asked, identity: Identity) -> Refusal:
    """Who may not do what to which, as Kubernetes says it."""
    if not asked.is_resource:
        message = f'forbidden: User "{identity.user}" cannot {asked.verb} path "{asked.path}"'
        return refusal(403, "Forbidden", message, details=StatusDetails())
    resource = f"{asked.resource}.{asked.group}" if asked.group else asked.resource
    subject = f'{resource} "{asked.name}"' if asked.name else resource
    what = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    where = f' in the namespace "{asked.namespace}"' if asked.namespace else " at the cluster scope"
    message = (
        f'{subject} is forbidden: User "{identity.user}" cannot {asked.verb} resource "{what}" '
        f'in API group "{asked.group}"{where}'
    )
    details = StatusDetails(name=asked.name, group=asked.group, kind=asked.resource)
    return refusal(403, "Forbidden", message, details=details)
