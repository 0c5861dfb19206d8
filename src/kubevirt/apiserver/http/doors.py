"""The doors of `auth/`, as the front knows them: a request is credentials, and a decision lets it through."""

from typing import Final

from aiohttp import web

from kubevirt.apiserver.auth.authentication import Authentication, Caller
from kubevirt.apiserver.auth.authorization import Authorization
from kubevirt.apiserver.auth.credentials import Credentials
from kubevirt.apiserver.auth.headers import Headers
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.registry.identity import Identity

_CALLER: Final = web.RequestKey("caller", Caller)


class Doors:
    """An Authenticator and an Authorizer."""

    def __init__(self, authentication: Authentication, authorization: Authorization) -> None:
        self._authentication = authentication
        self._authorization = authorization

    async def identify(self, request: web.BaseRequest) -> Identity:
        """As whom they act, if that is another."""
        credentials = Credentials(
            certificate=_certificate(request), headers=Headers(request.headers.items())
        )
        caller = await self._authentication.admit(credentials, self._authorization)
        request[_CALLER] = caller
        return caller.acting

    async def authorize(self, asked: Asked, identity: Identity) -> None:
        self._authorization.check(asked, identity)


def caller_of(request: web.BaseRequest) -> Caller | None:
    """Who came through the doors with this request, if anybody."""
    found: Caller | None = request.get(_CALLER)
    return found


def _certificate(request: web.BaseRequest) -> bytes:
    transport = request.transport
    tls = transport.get_extra_info("ssl_object") if transport else None
    return (tls.getpeercert(binary_form=True) if tls else None) or b""
