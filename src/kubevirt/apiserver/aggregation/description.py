"""What a callee says that it serves: its part of discovery, and of OpenAPI.

Read from what it answers, whatever that is: what is not as it should be is not passed on to clients, who
would stumble over it and see nothing of the others either.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec

Document = dict[str, Any]
T = TypeVar("T")

CURRENT: Final = "Current"
STALE: Final = "Stale"


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """Of one version of a group."""

    resources: tuple[Document, ...] = ()
    """As aggregated discovery lists them."""
    freshness: str = STALE
    etag: str = ""
    """Of what it was read from, to ask whether that is still so."""
    open_api_paths: Mapping[str, Document] = {}
    """Of the index of OpenAPI v3: where its document is."""
    open_api_v2: bytes = b""
    open_api_v2_etag: str = ""

    @property
    def is_current(self) -> bool:
        return self.freshness == CURRENT


# Discovery


class _Kind(msgspec.Struct):
    group: str = ""
    version: str = ""
    kind: str = ""


class _Subresource(msgspec.Struct, rename="camel"):
    subresource: str
    response_kind: _Kind | None = None
    verbs: list[str] | None = None


class _Resource(msgspec.Struct, rename="camel"):
    resource: str
    scope: str
    response_kind: _Kind | None = None
    singular_resource: str = ""
    verbs: list[str] | None = None
    short_names: list[str] | None = None
    categories: list[str] | None = None
    subresources: list[_Subresource] | None = None

    def as_document(self) -> Document:
        """Some clients cannot bear one that does not say the kind of its answers."""
        self.response_kind = self.response_kind or _Kind()
        for each in self.subresources or ():
            each.response_kind = each.response_kind or _Kind()
        found: Document = msgspec.to_builtins(self)
        return {name: value for name, value in found.items() if value or name in _ALWAYS_THERE}


_ALWAYS_THERE: Final = ("responseKind", "singularResource", "verbs")


class _Version(msgspec.Struct):
    version: str
    resources: list[_Resource] | None = None


class _Named(msgspec.Struct):
    name: str = ""


class _Group(msgspec.Struct):
    metadata: _Named
    versions: list[_Version] | None = None


class _Aggregated(msgspec.Struct):
    items: list[_Group] | None = None


def of_aggregated(body: bytes, group: str, version: str) -> tuple[Document, ...] | None:
    """From /apis in one document; None if it is none."""
    found = _decoded(body, _Aggregated)
    if found is None:
        return None
    return tuple(
        resource.as_document()
        for item in found.items or ()
        for each in item.versions or ()
        for resource in each.resources or ()
        if (item.metadata.name, each.version) == (group, version)
    )


class _Listed(msgspec.Struct, rename="camel"):
    """A resource or a part of one, in a list for itself."""

    name: str
    singular_name: str = ""
    namespaced: bool = False
    group: str = ""
    version: str = ""
    kind: str = ""
    verbs: list[str] | None = None
    short_names: list[str] | None = None
    categories: list[str] | None = None

    @property
    def response_kind(self) -> _Kind:
        return _Kind(self.group, self.version, self.kind) if self.kind else _Kind()

    @property
    def scope(self) -> str:
        return "Namespaced" if self.namespaced else "Cluster"


class _List(msgspec.Struct):
    resources: list[_Listed] | None = None


def of_legacy(body: bytes) -> tuple[Document, ...] | None:
    """From /apis/GROUP/VERSION, where parts stand beside what they belong to; None if it is no such list."""
    found = _decoded(body, _List)
    if found is None:
        return None
    listed = found.resources or ()
    wholes = {each.name: _whole(each) for each in listed if "/" not in each.name}
    for each in listed:
        name, _, below = each.name.partition("/")
        if below:
            # Of some resources nothing but a part is served.
            whole = wholes.setdefault(name, _Resource(resource=name, scope=each.scope))
            part = _Subresource(below, each.response_kind, each.verbs)
            whole.subresources = [*(whole.subresources or ()), part]
    return tuple(each.as_document() for each in wholes.values())


def _whole(listed: _Listed) -> _Resource:
    return _Resource(
        resource=listed.name,
        scope=listed.scope,
        response_kind=listed.response_kind,
        singular_resource=listed.singular_name,
        verbs=listed.verbs,
        short_names=listed.short_names,
        categories=listed.categories,
    )


# OpenAPI


class _Address(msgspec.Struct, rename="camel"):
    server_relative_url: str = msgspec.field(name="serverRelativeURL")


class _Index(msgspec.Struct):
    paths: dict[str, _Address]


def open_api_paths(body: bytes, path: str) -> Mapping[str, Document]:
    """Of an index of OpenAPI v3, what lies under this path: nobody speaks for others."""
    own = path.removeprefix("/")
    index = _decoded(body, _Index)
    found = index.paths.get(own) if index else None
    if found is None or not found.server_relative_url.startswith(f"/openapi/v3/{own}"):
        return {}
    return {own: msgspec.to_builtins(found)}


class _Swagger(msgspec.Struct):
    paths: dict[str, Document] = {}
    definitions: dict[str, Document] = {}


def merged_v2(own: Document, body: bytes, path: str) -> Document:
    """An OpenAPI v2 document with what a callee adds to it, under its path and names of its own."""
    other = _decoded(body, _Swagger) or _Swagger()
    added = {
        each: operations
        for each, operations in other.paths.items()
        if each == path or each.startswith(f"{path}/")
    }
    return {
        **own,
        "paths": {**own.get("paths", {}), **added},
        "definitions": {**other.definitions, **own.get("definitions", {})},
    }


def _decoded(body: bytes, type_: type[T]) -> T | None:
    try:
        return msgspec.json.decode(body, type=type_)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
