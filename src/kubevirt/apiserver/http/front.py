"""The front of the server: every request comes through here, and every answer goes out.

    what is asked → who asks → may they → what is it about → the verb → the answer's form

Whatever goes wrong on the way ends as a `Status`; a mistake of ours is a 500 that says nothing and a
log entry that says everything.
"""

import asyncio
import zlib
from typing import Final

from aiohttp import web

from kubevirt.api.meta import Status, StatusDetails
from kubevirt.apiserver import refusals
from kubevirt.apiserver.http import answers, asked, bodies, media
from kubevirt.apiserver.http.access import Authenticator, Authorizer
from kubevirt.apiserver.http.answers import Answers
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.http.discovering import Documents
from kubevirt.apiserver.http.media import Form
from kubevirt.apiserver.http.streams import stream
from kubevirt.apiserver.kinds.kind import Kind, Version
from kubevirt.apiserver.refusals import Refusal, refusal
from kubevirt.apiserver.registry import (
    changing,
    creating,
    deleting,
    patching,
    reading,
    scaling,
)
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.results import One, Plain, Result
from kubevirt.apiserver.registry.watching import Looked, Watching
from kubevirt.apiserver.storage.errors import StoreClosed, StoreFailed, StoreFull
from kubevirt.base.log import get_logger

log = get_logger(__name__)

GZIP_FROM: Final = 128 * 1024
"""Bytes from which an answer is compressed: below that it costs more than it saves."""
BOOKMARK_EVERY_S: Final = 60.0
HEALTH: Final = ("/healthz", "/livez", "/readyz")
_OBJECT_FORMS: Final = (media.TABLE, media.PARTIAL)
_LIST_FORMS: Final = (media.TABLE, media.PARTIAL_LIST, media.PARTIAL)
_SERVED_BELOW: Final = ("status", "scale", "finalize")


class Front:
    def __init__(
        self,
        registry: Registry,
        *,
        authenticator: Authenticator,
        authorizer: Authorizer,
        address: str,
    ) -> None:
        self._registry = registry
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._documents = Documents(registry.catalog, address)
        self._looked = Looked()
        self._answers: dict[tuple[int, str, Form], Answers] = {}
        self._answers_of = 0

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        warnings: list[str] = []
        try:
            return await self._answered(request, warnings)
        except Refusal as refused:
            return _refused(refused.status, warnings)
        except StoreFull:
            return _refused(refusals.no_room().status, warnings)
        except (StoreClosed, StoreFailed) as error:
            away = refusal(503, "ServiceUnavailable", str(error))
            return _refused(away.status, warnings)
        except (asyncio.CancelledError, ConnectionError):
            raise
        except Exception as error:  # noqa: BLE001  # the last gate: nothing leaves without an answer
            path = request.rel_url.raw_path
            log.warning("a request failed", method=request.method, path=path, error=error)
            return _refused(refusals.internal("see the log of the server").status, warnings)

    async def _answered(self, request: web.BaseRequest, warnings: list[str]) -> web.StreamResponse:
        url = request.rel_url
        about = asked.read(request.method, url.raw_path, url.query)
        identity = await self._authenticator.identify(request)
        await self._authorizer.authorize(about, identity)
        if about.is_resource:
            call = self._call(request, about, identity, warnings)
            return await self._serve(request, call)
        return await self._about_the_server(request, about)

    # Paths that are no resources

    async def _about_the_server(self, request: web.BaseRequest, about: Asked) -> web.StreamResponse:
        if about.path.rstrip("/").startswith(HEALTH):
            return self._health(about)
        found = self._documents.find(about.path, request.headers.get("Accept", ""))
        if found is None:
            if about.path.startswith("/apis/") and about.path.count("/") > 2:
                raise refusals.no_such_path()
            return web.Response(status=404, text="404 page not found\n")
        if about.verb not in ("get", "head"):
            raise refusals.method_not_allowed()
        headers = {"ETag": found.etag, "Vary": "Accept"}
        if request.headers.get("If-None-Match") == found.etag:
            return web.Response(status=304, headers=headers)
        response = await _with_body(request, found.body, found.media)
        response.headers.update(headers)
        return response

    def _health(self, about: Asked) -> web.StreamResponse:
        failure = self._registry.store.failure
        if failure and not about.path.startswith("/livez"):
            return web.Response(status=500, text=f"[-]store failed: {failure}\n")
        return web.Response(text="ok")

    # Resources

    def _call(
        self, request: web.BaseRequest, about: Asked, identity: Identity, warnings: list[str]
    ) -> Call:
        kind, version = self._found(about)
        if version.warning:
            warnings.append(version.warning)
        query = request.rel_url.query
        return Call(
            verb=about.verb,
            kind=kind,
            version=version,
            identity=identity,
            namespace=about.namespace if kind.namespaced else "",
            name=about.name,
            subresource=about.subresource,
            query={name: query.getall(name) for name in query},
            user_agent=request.headers.get("User-Agent", ""),
            warnings=warnings,
        )

    def _found(self, about: Asked) -> tuple[Kind, Version]:
        found = self._registry.catalog.find(about.group, about.version, about.resource)
        if found is None:
            raise refusals.no_such_path()
        kind, version = found
        is_inside = bool(about.namespace) and about.resource != "namespaces"
        if is_inside and not kind.namespaced:
            raise refusals.no_such_path()
        if about.subresource and about.subresource not in version.subresources:
            raise refusals.no_such_path()
        needs_home = about.name and about.verb not in ("list", "watch")
        if kind.namespaced and not about.namespace and (needs_home or about.verb == "create"):
            raise refusals.method_not_allowed() if not about.name else refusals.no_such_path()
        if kind.namespaced and not about.namespace and about.verb == "deletecollection":
            raise refusals.method_not_allowed()
        return kind, version

    async def _serve(self, request: web.BaseRequest, call: Call) -> web.StreamResponse:
        if not call.subresource and call.verb not in call.kind.verbs:
            raise refusals.method_not_allowed()
        form = _form(request, call)
        if call.verb == "watch":
            watching = Watching(
                self._registry, call, self._looked, bookmark_every_s=BOOKMARK_EVERY_S
            )
            response = web.StreamResponse(headers=_headers(call.warnings))
            clock = self._registry.clock
            return await stream(request, response, watching, self._writer(call, form), clock)
        result = await self._done(request, call)
        return await self._written(request, call, form, result)

    async def _done(self, request: web.BaseRequest, call: Call) -> Result:
        if call.subresource == "scale":
            return await self._scaled(request, call)
        if _is_special(call):
            return await self._special(request, call)
        registry, kind = self._registry, call.kind.names.kind
        match call.verb:
            case "get":
                return await reading.get(registry, call)
            case "list":
                return await reading.list_(registry, call)
            case "create" if not call.name:
                self._refuse_what_is_going(call)
                text = await bodies.read(request)
                body = bodies.as_object(text, bodies.content_type(request), kind)
                return await creating.create(registry, call, body)
            case "update":
                text = await bodies.read(request)
                body = bodies.as_object(text, bodies.content_type(request), kind)
                return await changing.update(registry, call, body)
            case "patch":
                type_ = bodies.content_type(request)
                is_yaml = type_ == patching.APPLY_PATCH
                body = bodies.as_patch(await bodies.read(request), is_yaml=is_yaml)
                return await patching.patch(registry, call, type_, body)
            case "delete" if not call.subresource:
                said = bodies.as_options(await bodies.read(request), bodies.content_type(request))
                return await deleting.delete(registry, call, said)
            case "deletecollection":
                said = bodies.as_options(await bodies.read(request), bodies.content_type(request))
                return await deleting.delete_collection(registry, call, said)
        raise refusals.method_not_allowed()

    async def _special(self, request: web.BaseRequest, call: Call) -> Result:
        """An endpoint that is no object: whoever knows the answer gives it."""
        endpoint = (call.kind.group, call.kind.names.plural, call.subresource)
        answerer = self._registry.answerers.get(endpoint)
        if answerer is None:
            words = f"{call.kind.names.plural} {call.subresource}".strip()
            raise refusal(501, "NotImplemented", f"{words} is not served here")
        if call.verb != "create":
            raise refusals.method_not_allowed()
        type_ = bodies.content_type(request)
        kind = call.subresource.capitalize() or call.kind.names.kind
        return await answerer(call, bodies.as_object(await bodies.read(request), type_, kind))

    async def _scaled(self, request: web.BaseRequest, call: Call) -> Result:
        match call.verb:
            case "get":
                return await scaling.get(self._registry, call)
            case "update":
                text = await bodies.read(request)
                body = bodies.as_object(text, bodies.content_type(request), "Scale")
                return await scaling.update(self._registry, call, body)
            case "patch":
                type_ = bodies.content_type(request)
                body = bodies.as_patch(await bodies.read(request), is_yaml=False)
                return await scaling.patch(self._registry, call, type_, body)
        raise refusals.method_not_allowed()

    def _refuse_what_is_going(self, call: Call) -> None:
        custom = self._registry.catalog.custom(call.kind.group_resource)
        if call.kind.is_custom and custom and custom.is_going:
            words = "create not allowed while custom resource definition is terminating"
            raise refusal(405, "MethodNotAllowed", words, details=StatusDetails())

    # Answers

    def _writer(self, call: Call, form: Form) -> Answers:
        catalog = self._registry.catalog
        if self._answers_of != catalog.generation:
            self._answers.clear()
            self._answers_of = catalog.generation
        key = (id(call.kind), call.version.name, form)
        found = self._answers.get(key)
        if found is None:
            found = Answers(call.kind, call.version, form, self._registry.clock)
            self._answers[key] = found
        return found

    async def _written(
        self, request: web.BaseRequest, call: Call, form: Form, result: Result
    ) -> web.StreamResponse:
        code = 200
        if isinstance(result, Plain):
            body, code = answers.encode(result.document), result.code
        elif isinstance(result, One):
            body, code = self._writer(call, form).one(result), result.code
        else:
            body = self._writer(call, form).many(result)
        if form.media == media.YAML:
            body = answers.as_yaml(body)
        response = await _with_body(request, body, form.media, code)
        response.headers.extend(_headers(call.warnings))
        return response


def _is_special(call: Call) -> bool:
    if call.subresource:
        return call.subresource not in _SERVED_BELOW
    return call.kind.verbs == ("create",)


def _form(request: web.BaseRequest, call: Call) -> Form:
    is_many = call.verb in ("list", "watch", "deletecollection")
    possible: tuple[str, ...] = _LIST_FORMS if is_many else _OBJECT_FORMS
    if call.subresource == "scale":
        possible = ()
    found = media.chosen(request.headers.get("Accept"), possible)
    if found is None:
        raise refusal(
            406,
            "NotAcceptable",
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf, application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch",
            details=StatusDetails(),
        )
    return found


def _headers(warnings: list[str]) -> list[tuple[str, str]]:
    shown = (each.replace("\\", "\\\\").replace('"', '\\"') for each in dict.fromkeys(warnings))
    fixed = [("Cache-Control", "no-cache, private")]
    return fixed + [("Warning", f'299 - "{each}"') for each in shown]


async def _with_body(
    request: web.BaseRequest, body: bytes, type_: str, code: int = 200
) -> web.Response:
    headers = {"Content-Type": type_}
    accepted = request.headers.get("Accept-Encoding", "")
    if len(body) >= GZIP_FROM and "gzip" in accepted:
        # Beside the loop: the library lets go of Python's lock while it works.
        body = await asyncio.to_thread(_compressed, body)
        headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return web.Response(body=body, status=code, headers=headers)


def _compressed(body: bytes) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def _refused(status: Status, warnings: list[str]) -> web.Response:
    body = answers.encode(answers.status(status))
    response = web.Response(body=body, status=status.code or 500, content_type=media.JSON)
    response.headers.extend(_headers(warnings))
    if status.details and status.details.retry_after_seconds:
        response.headers["Retry-After"] = str(status.details.retry_after_seconds)
    return response
