"""Which request goes where. The paths are a kubelet's:

/healthz
/pods
/containerLogs/NAMESPACE/POD/CONTAINER
/exec/NAMESPACE/POD[/UID]/CONTAINER       a websocket
/attach/NAMESPACE/POD[/UID]/CONTAINER     a websocket
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from aiohttp import web

from kubevirt.base.callers import Callers
from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger
from kubevirt.embedded.node.endpoint import choosing, log_queries, sessions
from kubevirt.embedded.node.endpoint.access import Access
from kubevirt.embedded.node.endpoint.finding import Finder
from kubevirt.embedded.node.endpoint.log_queries import is_set
from kubevirt.embedded.node.endpoint.refusals import NotServed
from kubevirt.embedded.runtime import logs
from kubevirt.embedded.runtime.attaching import attached
from kubevirt.embedded.runtime.growth import Growth
from kubevirt.embedded.runtime.joining import Streams
from kubevirt.embedded.runtime.keeper import Keeper

log = get_logger(__name__)

_NO_SPDY: Final = (
    "this home cannot forward ports for kubectl, which needs SPDY; reach the pod by its address or by a"
    " Service"
)


class Front:
    def __init__(self, finder: Finder, keeper: Keeper, access: Access, clock: Clock) -> None:
        self._finder = finder
        self._keeper = keeper
        self._access = access
        self._clock = clock
        self._growth = Growth()
        self.callers = Callers()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.callers.add(request.transport)
        try:
            self._access.check(request)
            return await self._answered(request)
        except NotServed as refused:
            return web.Response(status=refused.code, text=f"{refused.message}\n")
        except ConnectionError:
            raise  # whoever asked has left
        except Exception:
            log.exception("a request failed", path=request.path)
            return web.Response(status=500, text="the node failed; its log says why\n")

    async def _answered(self, request: web.BaseRequest) -> web.StreamResponse:
        _, place, *names = request.path.split("/")
        match place, names:
            case ("healthz", []) if request.method == "GET":
                return web.Response(text="ok")
            case ("pods", []) if request.method == "GET":
                return self._pods()
            case ("containerLogs", [namespace, pod, container]) if request.method == "GET":
                return await self._log(request, namespace, pod, container)
            case ("exec", [namespace, pod, *uid, container]) if len(uid) < 2:
                return await self._command(request, namespace, pod, container, "".join(uid))
            case ("attach", [namespace, pod, *uid, container]) if len(uid) < 2:
                return await self._attachment(request, namespace, pod, container, "".join(uid))
            case ("portForward", _):
                raise NotServed(501, _NO_SPDY)
        raise NotServed(404, "404 page not found")

    def _pods(self) -> web.Response:
        found = {
            "kind": "PodList",
            "apiVersion": "v1",
            "metadata": {},
            "items": self._finder.pods(),
        }
        return web.Response(body=msgspec.json.encode(found), content_type="application/json")

    async def _log(
        self, request: web.BaseRequest, namespace: str, pod: str, container: str
    ) -> web.StreamResponse:
        wanted = log_queries.wanted(request.query, self._clock.now())
        attempt = choosing.for_log(
            self._finder.find(namespace, pod, container),
            pod,
            container,
            is_previous=is_set(request.query, "previous"),
        )
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        try:
            await logs.copy(attempt, wanted, response.write, self._growth)
        except ConnectionError:
            raise
        except OSError as error:
            log.warning("a log could not be read to its end", error=error, pod=f"{namespace}/{pod}")
            # Half of a log must not look like all of it.
            if request.transport:
                request.transport.abort()
            return response
        await response.write_eof()
        return response

    async def _command(
        self, request: web.BaseRequest, namespace: str, pod: str, container: str, uid: str
    ) -> web.StreamResponse:
        words = request.query.getall("command", [])
        if not words:
            raise NotServed(400, "you must specify a command to execute")
        streams = _streams(request.query)
        attempt = choosing.for_command(self._finder.find(namespace, pod, container, uid), container)
        return await sessions.command(request, attempt, self._keeper, words, streams)

    async def _attachment(
        self, request: web.BaseRequest, namespace: str, pod: str, container: str, uid: str
    ) -> web.StreamResponse:
        streams = _streams(request.query)
        located = self._finder.find(namespace, pod, container, uid)
        attempt = choosing.for_attachment(located, container, has_input=streams.stdin)
        is_once = choosing.has_input_once(located, container)
        with attached(attempt, has_input=streams.stdin, is_once=is_once) as ear:
            return await sessions.attachment(request, attempt, streams, ear, self._growth)


def _streams(query: Mapping[str, str]) -> Streams:
    has_terminal = is_set(query, "tty")
    found = Streams(
        stdin=is_set(query, "input"),
        stdout=is_set(query, "output"),
        stderr=is_set(query, "error") and not has_terminal,
        terminal=has_terminal,
    )
    if not (found.stdin or found.stdout or found.stderr):
        raise NotServed(400, "you must specify at least 1 of stdin, stdout, stderr")
    return found
