"""Who may ask a node: the API server, which has asked its own users already, and administrators.

Nodes give out logs and run commands for whoever they let in, so nobody else is: pods reach this port too.
"""

from typing import Final

from aiohttp import web

from kubevirt.apiserver.auth.certificates import ClientCertificates
from kubevirt.apiserver.auth.credentials import BadCredentials
from kubevirt.apiserver.registry.identity import MASTERS
from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger
from kubevirt.embedded.node.endpoint.refusals import NotServed

log = get_logger(__name__)

API_SERVER: Final = "kube-apiserver-kubelet-client"


class Access:
    def __init__(self, authority: bytes, clock: Clock) -> None:
        """`authority` is who signs for clients, PEM."""
        self._certificates = ClientCertificates((authority,))
        self._clock = clock

    def check(self, request: web.BaseRequest) -> None:
        shown = _certificate(request)
        if not shown:
            raise NotServed(401, "Unauthorized")
        try:
            client = self._certificates.verify(shown, self._clock.now())
        except BadCredentials as error:
            log.info("a client was not let in", because=str(error), peer=request.remote)
            raise NotServed(401, "Unauthorized") from None
        if client.name != API_SERVER and MASTERS not in client.groups:
            asked = f"verb={request.method.lower()}, resource=nodes, subresource(s)=[proxy]"
            raise NotServed(403, f"Forbidden (user={client.name}, {asked})")


def _certificate(request: web.BaseRequest) -> bytes:
    tls = request.transport.get_extra_info("ssl_object") if request.transport else None
    return (tls.getpeercert(binary_form=True) if tls else None) or b""
