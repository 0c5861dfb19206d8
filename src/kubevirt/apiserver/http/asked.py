"""What a request is about: read from its method, path and query, before anybody looks at its body.

    PATCH /apis/kubevirt.io/v1/namespaces/default/virtualmachines/testvm/status

is the verb `patch` on the subresource `status` of a named object. Authentication and routing both decide on this,
so it is worked out once, here. A slash is a slash, also one that was written as %2F: otherwise somebody who may
read an object could be passed on to a part of it that they may not.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

import msgspec

from kubevirt.apiserver.http import field_selectors
from kubevirt.apiserver.http.field_selectors import Term

_VERBS: Final = {
    ("GET", True): "get",
    ("HEAD", True): "get",
    ("GET", False): "list",
    ("HEAD", False): "list",
    ("POST", True): "create",
    ("POST", False): "create",
    ("PUT", True): "update",
    ("PUT", False): "update",
    ("PATCH", True): "patch",
    ("DELETE", True): "delete",
    ("DELETE", False): "deletecollection",
}
"""By method, and whether an object is named."""
_ABOUT_THE_NAMESPACE: Final = {"status", "finalize"}


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request for a resource, or for a path outside of any."""

    verb: str
    path: str
    """Decoded."""
    is_resource: bool = False
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    name: str = ""
    subresource: str = ""
    rest: str = ""
    """Of the path, behind a subresource that takes more: proxies."""
    fields: tuple[Term, ...] = ()
    """Of the field selector of a list or watch: a node may see the pods that it asks for so."""


def read(method: str, path: str, query: Mapping[str, str]) -> Asked:
    """`path` as it was sent."""
    path = unquote(path)
    parts = [part for part in path.split("/") if part]
    found = _resource_parts(parts)
    if found is None:
        return Asked(verb=method.lower(), path=path)
    group, version, parts = found
    namespace, parts = _namespace(parts)
    resource, name, subresource = (*parts[:3], "", "", "")[:3]
    asked = Asked(
        verb=_VERBS.get((method, bool(name)), method.lower()),
        path=path,
        is_resource=True,
        group=group,
        version=version,
        namespace=namespace,
        resource=resource,
        name=name,
        subresource=subresource,
        rest="/".join(parts[3:]),
    )
    return _of_many(asked, query) if asked.verb == "list" else asked


def _resource_parts(parts: list[str]) -> tuple[str, str, list[str]] | None:
    """Group, version and what follows; None if the path is not about a resource."""
    match parts:
        case ["api", version, _, *_]:
            return "", version, parts[2:]
        case ["apis", group, version, _, *_]:
            return group, version, parts[3:]
    return None


def _namespace(parts: list[str]) -> tuple[str, list[str]]:
    """The namespace that things are in. A namespace itself is in itself, as access rules see it."""
    match parts:
        case ["namespaces", namespace, resource, *_] if resource not in _ABOUT_THE_NAMESPACE:
            return namespace, parts[2:]
        case ["namespaces", namespace, *_]:
            return namespace, parts
    return "", parts


def _of_many(asked: Asked, query: Mapping[str, str]) -> Asked:
    """A watch is a list that goes on; one of a single name is about that object."""
    verb = "watch" if is_true(query.get("watch")) else "list"
    fields = field_selectors.readable(query.get("fieldSelector", ""))
    name = field_selectors.required(fields, "metadata.name")
    if not _may_be_in_a_path(name):
        name = ""
    return msgspec.structs.replace(asked, verb=verb, name=name, fields=tuple(fields))


def _may_be_in_a_path(name: str) -> bool:
    return name not in {".", ".."} and "/" not in name and "%" not in name


def is_true(value: str | None) -> bool:
    """As Kubernetes reads a boolean in a query: all is yes but what says no, a name without a value too."""
    return value is not None and value != "0" and value.lower() != "false"
