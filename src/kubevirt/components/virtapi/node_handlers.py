"""The virt-handlers of nodes: where they are, and how to speak to them.

    async with NodeHandlers.connecting(client, tls, clock) as handlers:
        answer = await handlers.call(vmi, "PUT", "pause")
        async with handlers.stream(vmi, "console") as socket:
            ...

Both sides show certificates. What a node says is read no further than a limit: it may have been broken into.
"""

import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Final

import aiohttp
import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.meta import Status
from kubevirt.api.scheme import NODES, PODS
from kubevirt.base.clock import Clock
from kubevirt.components.virtapi.keepalive import watched_socket
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.virt.commands import guest
from kubevirt.virt.commands.calls import PROTOCOL
from kubevirt.virt.commands.refusal import Refusal, unavailable
from kubevirt.virt.install.options import NAMESPACE

PORT: Final = 8186
CALL_S: Final = 10.0
"""For a call, as in KubeVirt."""
CONNECT_S: Final = 10.0
ANSWER_LIMIT: Final = 16 << 20
"""Bytes of an answer: a picture of a large screen."""
REFUSAL_LIMIT: Final = 16 << 10
MESSAGE_LIMIT: Final = 4 << 20
"""Bytes of one message of a websocket, which has to be held whole."""
CLOSE_S: Final = 3.0
REASONS: Final = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    503: "ServiceUnavailable",
    504: "Timeout",
}
"""Kubernetes' words for codes that a node answers without one."""

Tls = Callable[[], ssl.SSLContext]
Query = Mapping[str, str]
NOTHING: Final[Query] = MappingProxyType({})


class Answer(msgspec.Struct, frozen=True):
    body: bytes
    media: str


class NodeHandlers:
    def __init__(
        self,
        session: aiohttp.ClientSession,
        client: Client,
        tls: Tls,
        clock: Clock,
        *,
        namespace: str = NAMESPACE,
        port: int = PORT,
    ) -> None:
        self._session = session
        self._client = client
        self._tls = tls
        self._clock = clock
        self._namespace = namespace
        self._port = port

    @classmethod
    @asynccontextmanager
    async def connecting(
        cls,
        client: Client,
        tls: Tls,
        clock: Clock,
        *,
        namespace: str = NAMESPACE,
        port: int = PORT,
    ) -> AsyncIterator["NodeHandlers"]:
        # No connection is used twice: an address may be another's by then.
        connector = aiohttp.TCPConnector(limit=0, force_close=True, socket_factory=watched_socket)
        async with aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
            raise_for_status=_check,
        ) as session:
            yield cls(session, client, tls, clock, namespace=namespace, port=port)

    async def call(
        self,
        vmi: VirtualMachineInstance,
        method: str,
        what: str,
        *,
        body: bytes = b"",
        query: Query = NOTHING,
    ) -> Answer:
        node = guest.on_node(vmi)
        url = await self._url(vmi, node, what)
        try:
            async with (
                self._clock.timeout(CALL_S),
                self._session.request(
                    method,
                    url,
                    params=query,
                    data=body or None,
                    headers={"Content-Type": "application/json"} if body else None,
                    ssl=self._tls(),
                    server_hostname=self._name,
                    allow_redirects=False,
                ) as response,
            ):
                found = await _read(response, ANSWER_LIMIT)
                return Answer(found, response.headers.get("Content-Type", ""))
        except (aiohttp.ClientError, OSError) as error:  # a TimeoutError is one of the latter
            raise _away(node, error) from None

    @asynccontextmanager
    async def stream(
        self, vmi: VirtualMachineInstance, what: str, *, query: Query = NOTHING
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        node = guest.on_node(vmi)
        url = await self._url(vmi, node, what)
        try:
            async with self._clock.timeout(CALL_S):
                socket = await self._session.ws_connect(
                    url,
                    params=query,
                    protocols=(PROTOCOL,),
                    ssl=self._tls(),
                    server_hostname=self._name,
                    autoping=False,
                    autoclose=False,
                    max_msg_size=MESSAGE_LIMIT,
                    timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_S),
                )
        except (aiohttp.ClientError, OSError) as error:
            raise _away(node, error) from None
        try:
            yield socket
        finally:
            await socket.close()

    @property
    def _name(self) -> str:
        """What a virt-handler's certificate is for."""
        return f"virt-handler.{self._namespace}.svc"

    async def _url(self, vmi: VirtualMachineInstance, node: str, what: str) -> str:
        host = await self._host(node)
        shown = f"[{host}]" if ":" in host else host
        meta = vmi.metadata
        path = f"/v1/namespaces/{meta.namespace}/virtualmachineinstances/{meta.name}/{what}"
        return f"https://{shown}:{self._port}{path}"

    async def _host(self, node: str) -> str:
        """Of its pod if it is one, else of its node: a home without pods for components has none."""
        pods = await self._client.list(
            PODS,
            self._namespace,
            label_selector="kubevirt.io=virt-handler",
            field_selector=f"spec.nodeName={node}",
        )
        for pod in pods.items:
            if pod.status.pod_ip and pod.metadata.deletion_timestamp is None:
                return pod.status.pod_ip
        try:
            found = await self._client.get(NODES, node)
        except NotFound:
            raise unavailable(f"node {node}, which has the guest, is not there") from None
        for address in found.status.addresses:
            if address.type == "InternalIP":
                return address.address
        raise unavailable(f"node {node} tells no address at which its virt-handler could be")


async def _check(response: aiohttp.ClientResponse) -> None:
    """A refusal of the node's is ours."""
    if response.status < 300:
        return
    body = await response.content.read(REFUSAL_LIMIT)
    response.close()
    raise _refused(response.status, body)


def _refused(code: int, body: bytes) -> Refusal:
    try:
        found = msgspec.json.decode(body, type=Status)
        text, reason = found.message, found.reason
    except msgspec.DecodeError:
        text, reason = body.decode(errors="replace").strip(), ""
    code = code if 400 <= code < 600 else 502
    text = text or f"virt-handler answered with {code}"
    return Refusal(code, text, reason=reason or REASONS.get(code, "InternalError"))


def _away(node: str, error: Exception) -> Refusal:
    return unavailable(f"virt-handler of node {node} cannot be reached: {_why(error)}")


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it takes too long"
    if isinstance(error, aiohttp.ClientConnectorError):
        # Its own words tell of the inside of this program.
        return f"{error.host}:{error.port}: {error.os_error.strerror or error.os_error}"
    return str(error)


async def _read(response: aiohttp.ClientResponse, limit: int) -> bytes:
    pieces = bytearray()
    async for piece in response.content.iter_any():
        pieces += piece
        if len(pieces) > limit:
            response.close()
            raise unavailable(f"the answer of virt-handler is larger than {limit} bytes")
    return bytes(pieces)
