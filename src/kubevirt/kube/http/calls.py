"""What all verbs share: from a resource and a name to a request, from an answer to an object.

Names become parts of a path, so they are checked here and nowhere else: no name may lead to another
object than the one it names.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from kubevirt.api.meta import PartialObjectMetadata
from kubevirt.api.resource import Resource
from kubevirt.base.errors import UserError
from kubevirt.kube.http.decoding import Decoder
from kubevirt.kube.http.request import JSON, Request
from kubevirt.kube.http.transport import Transport
from kubevirt.kube.http.warnings import OnWarning

T = TypeVar("T")

Parameter = str | int | bool | None
"""None and the empty string mean that the parameter is left out."""

FieldValidation = Literal["Ignore", "Warn", "Strict"]
Propagation = Literal["Background", "Foreground", "Orphan"]

METADATA_ONLY = "as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_ONLY_LIST = "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


class Calls:
    """A client without verbs."""

    def __init__(self, transport: Transport, on_warning: OnWarning | None) -> None:
        self._transport = transport
        self._on_warning = on_warning
        self._decoders: dict[Resource[Any], Decoder[Any]] = {}

    async def _call(self, request: Request) -> bytes:
        return await self._transport.call(request, self._on_warning)

    async def _read(self, resource: Resource[T], request: Request) -> T:
        return self._decoder(resource).one(await self._call(request))

    def _decoder(self, resource: Resource[T]) -> Decoder[T]:
        decoder = self._decoders.get(resource)
        if decoder is None:
            decoder = self._decoders[resource] = Decoder(resource)
        return decoder


def request_for_one(
    method: str,
    resource: Resource[Any],
    name: str,
    namespace: str | None,
    subresource: str = "",
    *,
    params: Mapping[str, Parameter] | None = None,
    body: bytes | None = None,
    content_type: str = JSON,
    accept: str | None = None,
    may_wait: bool = True,
) -> Request:
    """About one object, or a subresource of it."""
    require_namespace(resource, namespace)
    return Request(
        method=method,
        path=resource.path(_checked(namespace), _checked(name), subresource),
        params=parameters(params or {}),
        body=body,
        content_type=content_type,
        accept=accept or accepting(resource, METADATA_ONLY),
        resource=resource,
        subresource=subresource,
        may_wait=may_wait,
    )


def request_for_many(
    method: str,
    resource: Resource[Any],
    namespace: str | None,
    *,
    params: Mapping[str, Parameter] | None = None,
    body: bytes | None = None,
    accept: str = JSON,
) -> Request:
    """About all objects, of one namespace or of all."""
    return Request(
        method=method,
        path=resource.path(_checked(namespace)),
        params=parameters(params or {}),
        body=body,
        accept=accept,
        resource=resource,
    )


def accepting(resource: Resource[Any], form: str) -> str:
    """Plain JSON will do where a server cannot leave things out: the decoder does it then."""
    return f"{JSON};{form},{JSON}" if resource.type is PartialObjectMetadata else JSON


def parameters(values: Mapping[str, Parameter]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, str(value).lower() if isinstance(value, bool) else str(value))
        for name, value in values.items()
        if value is not None and value != ""
    )


def write_options(
    *, dry_run: bool, field_manager: str | None, field_validation: FieldValidation | None
) -> dict[str, Parameter]:
    return {
        "dryRun": "All" if dry_run else None,
        "fieldManager": field_manager,
        "fieldValidation": field_validation,
    }


def delete_options(
    *,
    uid: str | None = None,
    resource_version: str | None = None,
    propagation: Propagation | None = None,
    grace_period_s: int | None = None,
    dry_run: bool = False,
) -> dict[str, Any]:
    preconditions = {"uid": uid, "resourceVersion": resource_version}
    options = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {key: value for key, value in preconditions.items() if value} or None,
        "propagationPolicy": propagation,
        "gracePeriodSeconds": grace_period_s,
        "dryRun": ["All"] if dry_run else None,
    }
    return {key: value for key, value in options.items() if value is not None}


def require_namespace(resource: Resource[Any], namespace: str | None) -> None:
    """A forgotten namespace would make another path, which the server takes for a kind it lacks."""
    if resource.namespaced and not namespace:
        raise ValueError(f"{resource.group_resource} live in namespaces: name one")


def _checked(name: str | None) -> str:
    """Kubernetes' own rule for names in paths."""
    if name is None:
        return ""
    if name in ("", ".", "..") or "/" in name or "%" in name:
        raise UserError(f'"{name}" cannot be a name: it is empty, or has . or / or % in it')
    return name
