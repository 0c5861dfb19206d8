"""The endpoints of this package that are no objects: reviews, and tokens on request."""

from typing import Any

import msgspec

from kubevirt.apiserver.auth import reviews
from kubevirt.apiserver.auth.authentication import Authentication
from kubevirt.apiserver.auth.authorization import Authorization
from kubevirt.apiserver.auth.token_requests import KIND, TokenIssuer
from kubevirt.apiserver.refusals import bad_request
from kubevirt.apiserver.registry import incoming, options
from kubevirt.apiserver.registry.answering import admitted
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.incoming import Body
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.results import Plain

Object = dict[str, Any]
_AUTHORIZATION = "authorization.k8s.io"
_AUTHENTICATION = "authentication.k8s.io"


class _Ref(msgspec.Struct, omit_defaults=True, rename="camel"):
    kind: str = ""
    api_version: str = ""
    name: str = ""
    uid: str = ""


class _Spec(msgspec.Struct, omit_defaults=True, rename="camel"):
    audiences: list[str] | None = None
    expiration_seconds: int | None = None
    bound_object_ref: _Ref | None = None


class _Metadata(msgspec.Struct, omit_defaults=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""


class _TokenRequest(msgspec.Struct, omit_defaults=True):
    """A type that no kind of its own has."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)


class AccessAnswers:
    def __init__(
        self,
        registry: Registry,
        authentication: Authentication,
        authorization: Authorization,
        issuer: TokenIssuer,
    ) -> None:
        self._registry = registry
        self._authentication = authentication
        self._authorization = authorization
        self._issuer = issuer

    def register(self) -> None:
        answerers = self._registry.answerers
        answerers[_AUTHORIZATION, "subjectaccessreviews", ""] = self.subject_access
        answerers[_AUTHORIZATION, "localsubjectaccessreviews", ""] = self.local_subject_access
        answerers[_AUTHORIZATION, "selfsubjectaccessreviews", ""] = self.self_subject_access
        answerers[_AUTHORIZATION, "selfsubjectrulesreviews", ""] = self.self_subject_rules
        answerers[_AUTHENTICATION, "selfsubjectreviews", ""] = self.self_subject
        answerers[_AUTHENTICATION, "tokenreviews", ""] = self.token
        answerers["", "serviceaccounts", "token"] = self.token_request

    async def _read(self, call: Call, body: Body) -> Object:
        shape = self._registry.served(call.kind).shape(call.version)
        object_ = incoming.read(call, shape, body, options.of_write(call))
        return await admitted(self._registry, call, incoming.stand_in_namespace(call, object_))

    async def subject_access(self, call: Call, body: Body) -> Plain:
        return _made(reviews.subject_access(await self._read(call, body), self._authorization))

    async def local_subject_access(self, call: Call, body: Body) -> Plain:
        return _made(
            reviews.local_subject_access(await self._read(call, body), self._authorization)
        )

    async def self_subject_access(self, call: Call, body: Body) -> Plain:
        read = await self._read(call, body)
        return _made(reviews.self_subject_access(read, self._authorization, call.identity))

    async def self_subject_rules(self, call: Call, body: Body) -> Plain:
        read = await self._read(call, body)
        return _made(reviews.self_subject_rules(read, self._authorization, call.identity))

    async def self_subject(self, call: Call, body: Body) -> Plain:
        now = self._registry.clock.now()
        return _made(reviews.self_subject(await self._read(call, body), call.identity, now))

    async def token(self, call: Call, body: Body) -> Plain:
        return _made(await reviews.token(await self._read(call, body), self._authentication))

    async def token_request(self, call: Call, body: Body) -> Plain:
        try:
            read = msgspec.to_builtins(msgspec.convert(body.value, _TokenRequest))
        except msgspec.ValidationError as error:
            raise bad_request(
                f'{KIND} in version "v1" cannot be handled as a {KIND}: {error}'
            ) from None
        request = {"kind": KIND, "apiVersion": f"{_AUTHENTICATION}/v1", **read}
        request = await admitted(self._registry, call, request)
        return _made(await self._issuer.answer(request, call.namespace, call.name))


def _made(document: Object) -> Plain:
    return Plain(document=document, code=201)
