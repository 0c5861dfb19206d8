"""The front of the server: every request comes through here, and every answer goes out.

    what is asked → who asks → may they → how many are at it → what is it about → the verb → the answer's form

What somebody else serves goes to them once it is known who asks, and that they may (`aggregation/`).
Whatever goes wrong on the way ends as a `Status`; a mistake of ours is a 500 that says nothing and a
log entry that says everything.
"""

import asyncio
from contextlib import aclosing
from typing import Any, Final

from aiohttp import web
from msgspec.structs import replace

from kubevirt.api.meta import StatusDetails
from kubevirt.apiserver import refusals
from kubevirt.apiserver.aggregation import headers
from kubevirt.apiserver.aggregation.aggregation import Aggregation
from kubevirt.apiserver.http import (
    answers,
    asked,
    bodies,
    deadlines,
    flow,
    health,
    kubelets,
    lists,
    media,
    responses,
    tables,
)
from kubevirt.apiserver.http.access import Authenticator, Authorizer
from kubevirt.apiserver.http.answers import Answers
from kubevirt.apiserver.http.asked import Asked
from kubevirt.apiserver.http.audited import ANNOTATIONS
from kubevirt.apiserver.http.discovering import Documents
from kubevirt.apiserver.http.flow import Flow
from kubevirt.apiserver.http.frames import Frames
from kubevirt.apiserver.http.kubelets import Kubelets
from kubevirt.apiserver.http.limits import Limits
from kubevirt.apiserver.http.media import Form
from kubevirt.apiserver.http.room import Room
from kubevirt.apiserver.http.streams import stream
from kubevirt.apiserver.kinds.kind import Kind, Version
from kubevirt.apiserver.refusals import Refusal, refusal
from kubevirt.apiserver.registry import (
    changing,
    creating,
    deleting,
    incoming,
    patching,
    reading,
    scaling,
)
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.apiserver.registry.incoming import Body
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.results import Flowing, Plain, Result
from kubevirt.apiserver.registry.watching import Looked, Watching
from kubevirt.apiserver.storage.errors import StoreClosed, StoreFailed, StoreFull, ValueTooLarge
from kubevirt.base.log import get_logger

log = get_logger(__name__)

BOOKMARK_EVERY_S: Final = 60.0
_OBJECT_FORMS: Final = (media.TABLE, media.PARTIAL)
_LIST_FORMS: Final = (media.TABLE, media.PARTIAL_LIST, media.PARTIAL)
_BODY_BELOW: Final = {
    "binding": ("v1", "Binding"),
    "eviction": ("policy/v1", "Eviction"),
    "token": ("authentication.k8s.io/v1", "TokenRequest"),
}
"""The kinds that subresources take."""
_SERVED_BELOW: Final = ("ephemeralcontainers", "finalize", "scale", "status")


class Front:
    def __init__(
        self,
        registry: Registry,
        aggregation: Aggregation,
        kubelets_: Kubelets,
        *,
        authenticator: Authenticator,
        authorizer: Authorizer,
        address: str,
        limits: Limits | None = None,
    ) -> None:
        self._limits = limits or Limits()
        self._flow = Flow(self._limits)
        self._room = Room(self._limits)
        self._registry = registry
        self._aggregation = aggregation
        self._kubelets = kubelets_
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._documents = Documents(registry.catalog, address, aggregation.directory)
        self._looked = Looked()
        self._answers: dict[tuple[int, str, Form], Answers] = {}
        self._answers_of = 0
        self._frames = Frames()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        warnings: list[str] = []
        try:
            return await self._answered(request, warnings)
        except Refusal as refused:
            return responses.refused(refused.status, warnings)
        except ValueTooLarge:
            return responses.refused(refusals.too_large_to_store().status, warnings)
        except StoreFull:
            return responses.refused(refusals.no_room().status, warnings)
        except (StoreClosed, StoreFailed) as error:
            away = refusal(503, "ServiceUnavailable", str(error))
            return responses.refused(away.status, warnings)
        except (asyncio.CancelledError, ConnectionError):
            raise
        except Exception as error:  # noqa: BLE001  # the last gate: nothing leaves without an answer
            path = request.rel_url.raw_path
            log.warning("a request failed", method=request.method, path=path, error=error)
            mistake = refusals.internal("see the log of the server")
            return responses.refused(mistake.status, warnings)

    async def _answered(self, request: web.BaseRequest, warnings: list[str]) -> web.StreamResponse:
        url = request.rel_url
        about = asked.read(request.method, url.raw_path, url.query)
        identity = await self._authenticator.identify(request)
        await self._authorizer.authorize(about, identity)
        is_stream = flow.is_stream(about) or self._is_joined(request, about)
        with self._flow.entered(identity, is_stream=is_stream):
            if is_stream:
                return await self._dispatched(request, about, identity, warnings)
            most_s = self._limits.request_s
            limit_s = min(deadlines.wanted(request.rel_url.query) or most_s, most_s)
            limit = self._registry.clock.timeout(limit_s)
            try:
                async with limit, self._room.for_body_of(request):
                    return await self._dispatched(request, about, identity, warnings)
            except TimeoutError as error:
                if not limit.expired():
                    raise
                raise refusals.took_too_long() from error

    def _is_joined(self, request: web.BaseRequest, about: Asked) -> bool:
        """Whether it becomes a websocket of somebody else. Nothing that is only called one gets around a bound."""
        is_asked = request.method == "GET" and "Upgrade" in request.headers
        if not is_asked or headers.upgrade(request.headers.items()) != "websocket":
            return False
        return self._aggregation.serving(about.path) is not None

    async def _dispatched(
        self, request: web.BaseRequest, about: Asked, identity: Identity, warnings: list[str]
    ) -> web.StreamResponse:
        if elsewhere := self._aggregation.serving(about.path):
            return await self._aggregation.forward(request, identity, elsewhere)
        if about.is_resource:
            if (
                request.method == "HEAD"
            ):  # it would be a list or a watch, whose body nobody may send
                raise refusals.method_not_allowed()
            call = self._call(request, about, identity, warnings)
            return await self._serve(request, call)
        return await self._about_the_server(request, about)

    # Paths that are no resources

    async def _about_the_server(self, request: web.BaseRequest, about: Asked) -> web.StreamResponse:
        if told := health.answer(self._registry.store, about.path, request):
            return told
        found = self._documents.find(about.path, request.headers.get("Accept", ""))
        if found is None:
            if about.path.startswith("/apis/") and about.path.count("/") > 2:
                raise refusals.no_such_path()
            return web.Response(status=404, text="404 page not found\n")
        if about.verb != "get":
            raise refusals.method_not_allowed()
        about_it = {"ETag": found.etag, "Vary": "Accept"}
        if request.headers.get("If-None-Match") == found.etag:
            return web.Response(status=304, headers=about_it)
        response = await responses.whole(request, found.body, found.media)
        response.headers.update(about_it)
        return response

    # Resources

    def _call(
        self, request: web.BaseRequest, about: Asked, identity: Identity, warnings: list[str]
    ) -> Call:
        kind, version = self._found(about)
        if version.warning:
            warnings.append(version.warning)
        query = request.rel_url.query
        call = Call(
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
            deadline=deadlines.deadline(about.verb, query, self._registry.clock.monotonic()),
        )
        request[ANNOTATIONS] = call.annotations
        return call

    def _found(self, about: Asked) -> tuple[Kind, Version]:
        found = self._registry.catalog.find(about.group, about.version, about.resource)
        if found is None:
            raise refusals.no_such_path()
        kind, version = found
        is_inside = bool(about.namespace) and about.resource != "namespaces"
        if is_inside and not kind.namespaced:
            raise refusals.no_such_path()
        is_part = not about.subresource or about.subresource in version.subresources
        if not kind.is_custom and (not is_part or about.rest):
            raise refusals.no_such_path()
        needs_home = about.name and about.verb not in ("list", "watch")
        if kind.namespaced and not about.namespace and (needs_home or about.verb == "create"):
            raise refusals.method_not_allowed() if not about.name else refusals.no_such_path()
        if kind.namespaced and not about.namespace and about.verb == "deletecollection":
            raise refusals.method_not_allowed()
        if not is_part:  # of a custom resource; what is behind a part of it, nobody looks at
            raise refusals.not_found(kind, about.name)
        return kind, version

    async def _serve(self, request: web.BaseRequest, call: Call) -> web.StreamResponse:
        if not call.subresource and call.verb not in call.kind.verbs:
            raise refusals.method_not_allowed()
        if call.verb in ("update", "patch") and not call.name:
            if call.kind.is_custom:
                raise refusals.bad_request("name must be provided")
            raise refusals.method_not_allowed()
        if call.subresource == "finalize" and call.verb != "update":
            raise refusals.method_not_allowed()
        if call.kind.group_resource == "pods" and call.subresource in kubelets.SUBRESOURCES:
            return await self._kubelets.serve(request, call)
        form = _form(request, call)
        if call.verb == "watch":
            watching = Watching(
                self._registry, call, self._looked, bookmark_every_s=BOOKMARK_EVERY_S
            )
            response = web.StreamResponse(headers=responses.headers(call.warnings))
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
                return await creating.create(registry, call, await _body(request, call, kind))
            case "update":
                return await changing.update(registry, call, await _body(request, call, kind))
            case "patch":
                type_ = bodies.content_type(request)
                patching.check_media(call, type_)
                body = await bodies.aside(bodies.as_patch, await bodies.read(request), type_)
                return await patching.patch(registry, call, type_, body)
            case "delete" if not call.subresource:
                said = bodies.as_options(await bodies.read(request), bodies.content_type(request))
                return await deleting.delete(registry, call, said)
            case "deletecollection":
                said = bodies.as_options(await bodies.read(request), bodies.content_type(request))
                return await deleting.delete_collection(registry, call, said)
        raise refusals.no_such_verb(call.kind, call.verb)

    async def _special(self, request: web.BaseRequest, call: Call) -> Result:
        """An endpoint that is no object: whoever knows the answer gives it."""
        endpoint = (call.kind.group, call.kind.names.plural, call.subresource)
        answerer = self._registry.answerers.get(endpoint)
        if answerer is None:
            words = f"{call.kind.names.plural} {call.subresource}".strip()
            raise refusal(501, "NotImplemented", f"{words} is not served here")
        if call.verb != "create":
            raise refusals.method_not_allowed()
        own = (call.api_version, call.kind.names.kind)
        api_version, kind = _BODY_BELOW.get(call.subresource, own)
        body = await _body(request, call, kind, api_version)
        incoming.of_kind(body, api_version, kind)
        return await answerer(call, body)

    async def _scaled(self, request: web.BaseRequest, call: Call) -> Result:
        match call.verb:
            case "get":
                return await scaling.get(self._registry, call)
            case "update":
                body = await _body(request, call, "Scale")
                return await scaling.update(self._registry, call, body)
            case "patch":
                type_ = bodies.content_type(request)
                body = bodies.as_patch(await bodies.read(request), type_)
                return await scaling.patch(self._registry, call, type_, body)
        raise refusals.no_such_verb(call.kind, call.verb)

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
            self._frames.clear()
            self._answers_of = catalog.generation
        key = (id(call.kind), call.version.name, form)
        found = self._answers.get(key)
        if found is None:
            clock = self._registry.clock
            found = Answers(call.kind, call.version, form, clock, self._frames)
            self._answers[key] = found
        return found

    async def _written(
        self, request: web.BaseRequest, call: Call, form: Form, result: Result
    ) -> web.StreamResponse:
        if isinstance(result, Flowing):
            writer = self._writer(call, form)
            async with aclosing(lists.pieces(result, writer, form.media)) as pieces:
                return await responses.flowing(request, pieces, form.media, call.warnings)
        if isinstance(result, Plain):
            body = answers.encode(self._plain(call, form, result))
        else:
            body = self._writer(call, form).one(result)
        if form.media == media.YAML:
            body = await bodies.aside(answers.as_yaml, body)
        response = await responses.whole(request, body, form.media, result.code)
        response.headers.extend(responses.headers(call.warnings))
        return response

    def _plain(self, call: Call, form: Form, result: Plain) -> Any:
        if call.subresource != "scale" or not form.kind:
            return result.document
        if form.kind == media.TABLE:
            return tables.of_scale(result.document, self._registry.clock)
        return tables.metadata_of(result.document)


async def _body(request: web.BaseRequest, call: Call, kind: str, api_version: str = "") -> Body:
    type_ = bodies.content_type(request)
    if type_ == media.PROTOBUF and call.kind.is_custom and kind == call.kind.names.kind:
        raise refusals.unsupported_media_type(media.OFFERED)
    text = await bodies.read(request)
    expected = (kind, api_version or call.api_version)
    return await bodies.aside(bodies.as_object, text, type_, *expected)


def _is_special(call: Call) -> bool:
    if call.subresource:
        return call.subresource not in _SERVED_BELOW
    return call.kind.verbs == ("create",)


def _form(request: web.BaseRequest, call: Call) -> Form:
    is_many = call.verb in ("list", "watch", "deletecollection")
    possible: tuple[str, ...] = _LIST_FORMS if is_many else _OBJECT_FORMS
    found = media.chosen(request.headers.get("Accept"), possible)
    if found is None:
        raise refusals.not_acceptable(media.OFFERED, is_custom=call.kind.is_custom)
    if found.kind != media.TABLE:
        return found
    return replace(found, included=_included(request.query.get("includeObject", "")))


def _included(wanted: str) -> str:
    if wanted not in media.INCLUDED:
        raise refusals.bad_request(
            f'Unable to convert to Table as requested: includeObject: Invalid value: "{wanted}": '
            "must be 'Metadata', 'Object', 'None', or empty"
        )
    return wanted
