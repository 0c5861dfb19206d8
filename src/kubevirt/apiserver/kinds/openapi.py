"""Kinds as OpenAPI: what `kubectl explain` reads, and where clients look up which options a call takes.

A document a group and version, made when it is asked for. Built-in types point to each other; a CRD's
schema stands whole, with the descriptions that its author wrote.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kubevirt.apiserver.kinds import builtin, notation
from kubevirt.apiserver.kinds.discovery import Group
from kubevirt.apiserver.kinds.kind import Kind, Schema, Version

Document = dict[str, Any]

V3 = "#/components/schemas/"
V2 = "#/definitions/"
METADATA = "ObjectMeta"
LIST_METADATA = "ListMeta"

_MEDIA = ("application/json", "application/yaml")
_PATCHES = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
)
_STRATEGIC = "application/strategic-merge-patch+json"
"""Of built-in kinds only. kubectl sends the patch that stands here, and takes no for a failure."""
_WRITING = ("dryRun", "fieldManager", "fieldValidation")
_LISTING = (
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeoutSeconds",
    "watch",
)
_DELETING = ("dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy")
_OPTIONS = {
    "get": (),
    "post": _WRITING,
    "put": _WRITING,
    "patch": (*_WRITING, "force"),
    "delete": _DELETING,
}
_SAID = {"200": "OK", "201": "Created", "202": "Accepted"}
_CODES = {
    "get": ("200",),
    "post": ("200", "201", "202"),
    "put": ("200", "201"),
    "patch": ("200", "201"),
    "delete": ("200", "202"),
}
_TRUE_OR_FALSE = {"allowWatchBookmarks", "force", "orphanDependents", "sendInitialEvents", "watch"}
_NUMBERS = {"gracePeriodSeconds", "limit", "timeoutSeconds"}
_VERB_OF_METHOD = {
    "get": "get",
    "post": "create",
    "put": "update",
    "patch": "patch",
    "delete": "delete",
}


def index(groups: Iterable[Group], etags: Mapping[str, str]) -> Document:
    """/openapi/v3: where each document is. The tag changes with its content, so that it may be kept."""
    paths = {}
    for group in groups:
        for version in group.versions:
            path = root_of(group.name, version)
            address = f"/openapi/v3/{path}?hash={etags.get(path, '')}"
            paths[path] = {"serverRelativeURL": address}
    return {"paths": paths}


def root_of(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def v3(group: Group, version: str) -> Document:
    """/openapi/v3/apis/GROUP/VERSION"""
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": version},
        "paths": {
            path: {**operations, **_blanks(path)}
            for kind, each in group.of_version(version)
            for path, operations in _paths(kind, each)
        },
        "components": {"schemas": _definitions([group], version, V3)},
    }


def v2(groups: Iterable[Group]) -> Document:
    """/openapi/v2: everything in one, for clients from before 2022."""
    groups = list(groups)
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": "v1"},
        "paths": {},
        "definitions": _definitions(groups, None, V2),
    }


V2_OUTLINE = b"\n\x032.0\x12\x12\n\nKubernetes\x12\x041.34"
"""The same in protobuf, `swagger` and `info` alone: kubectl asks for it before it sends a `List`, and
leaves to the server what it finds no definition of.
"""


def component_name(kind: Kind, version: Version) -> str:
    if version.type_name:
        return version.type_name
    return ".".join([*reversed(kind.group.split(".")), version.name, kind.names.kind])


# Definitions


def _definitions(groups: Iterable[Group], version: str | None, prefix: str) -> Document:
    found: Document = {}
    wanted = {METADATA, LIST_METADATA}
    for group in groups:
        for name in group.versions if version is None else [version]:
            for kind, each in group.of_version(name):
                component = component_name(kind, each)
                if each.type_name:
                    wanted |= builtin.types().within(each.type_name)
                found[component] = _object(kind, each, prefix)
                found[f"{component}List"] = _list(kind, each, component, prefix)
    types = builtin.types()
    for name in wanted:
        for part in types.within(name):
            found.setdefault(part, types.component(part, prefix))
    found |= dict(notation.NAMED.values())
    return dict(sorted(found.items()))


def _object(kind: Kind, version: Version, prefix: str) -> Schema:
    if version.type_name:
        schema = builtin.types().component(version.type_name, prefix)
    else:
        schema = version.schema()
        standard = {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"allOf": [{"$ref": f"{prefix}{METADATA}"}]},
        }
        schema = {**schema, "properties": {**schema.get("properties", {}), **standard}}
    return {**schema, **_about(kind, version)}


def _list(kind: Kind, version: Version, component: str, prefix: str) -> Schema:
    items = {"type": "array", "items": {"allOf": [{"$ref": f"{prefix}{component}"}]}}
    return {
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string"},
            "items": items,
            "kind": {"type": "string"},
            "metadata": {"allOf": [{"$ref": f"{prefix}{LIST_METADATA}"}]},
        },
        "x-kubernetes-group-version-kind": [
            {"group": kind.group, "version": version.name, "kind": kind.names.list_kind}
        ],
    }


def _about(kind: Kind, version: Version) -> Schema:
    return {"x-kubernetes-group-version-kind": [_gvk(kind, version)]}


def _gvk(kind: Kind, version: Version) -> Schema:
    return {"group": kind.group, "version": version.name, "kind": kind.names.kind}


# Paths


def _blanks(path: str) -> Document:
    """What has to be filled in of a path; clients that are made from the document ask for it."""
    found = [each for each in ("name", "namespace") if f"{{{each}}}" in path]
    text = {"type": "string", "uniqueItems": True}
    told = [{"name": each, "in": "path", "required": True, "schema": text} for each in found]
    return {"parameters": told} if told else {}


def _paths(kind: Kind, version: Version) -> Iterator[tuple[str, Document]]:
    root = f"/{root_of(kind.group, version.name)}"
    plural = kind.names.plural
    below = f"{root}/namespaces/{{namespace}}/{plural}" if kind.namespaced else f"{root}/{plural}"
    yield below, _operations(kind, version, ("get", "post", "delete"), of_many=True)
    if kind.namespaced and "list" in kind.verbs:
        yield f"{root}/{plural}", _operations(kind, version, ("get",), of_many=True)
    if "get" in kind.verbs:
        one = _operations(kind, version, ("get", "put", "patch", "delete"))
        yield f"{below}/{{name}}", one
    for subresource in version.subresources:
        if subresource in {"status", "scale"}:
            part = _operations(kind, version, ("get", "put", "patch"))
            yield f"{below}/{{name}}/{subresource}", part


def _operations(
    kind: Kind, version: Version, methods: Iterable[str], *, of_many: bool = False
) -> Document:
    return {
        method: _operation(kind, version, method, of_many=of_many)
        for method in methods
        if _verb(method, of_many=of_many) in kind.verbs
    }


def _verb(method: str, *, of_many: bool) -> str:
    if of_many and method in {"get", "delete"}:
        return "list" if method == "get" else "deletecollection"
    return _VERB_OF_METHOD[method]


def _operation(kind: Kind, version: Version, method: str, *, of_many: bool) -> Document:
    verb = _verb(method, of_many=of_many)
    names = (*_OPTIONS[method], *(_LISTING if of_many and method != "post" else ()))
    answer = {"$ref": f"{V3}{component_name(kind, version)}{'List' if verb == 'list' else ''}"}
    content = {media: {"schema": answer} for media in _MEDIA}
    operation: Document = {
        "parameters": [_parameter(name) for name in sorted(names)],
        "responses": {
            code: {"description": _SAID[code], "content": content} for code in _CODES[method]
        },
        "x-kubernetes-action": verb,
        "x-kubernetes-group-version-kind": _gvk(kind, version),
    }
    if method in {"post", "put"}:
        operation["requestBody"] = {"content": content, "required": True}
    elif method == "patch":
        patch = {"type": "object"}
        known = _PATCHES if kind.is_custom else (*_PATCHES, _STRATEGIC)
        operation["requestBody"] = {"content": {each: {"schema": patch} for each in known}}
    return operation


def _parameter(name: str) -> Document:
    type_ = "boolean" if name in _TRUE_OR_FALSE else "integer" if name in _NUMBERS else "string"
    return {"name": name, "in": "query", "schema": {"type": type_, "uniqueItems": True}}
