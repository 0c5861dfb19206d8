"""Writes the tables of built-in kinds from what a real kube-apiserver says of itself.

    scripts/builtin_kinds.py           starts the light cluster and writes all tables
    tests/contract                     compares them with the server under test

How they are written in protobuf no server tells: `wire_numbers.py` finds it in the sources.

Names, types and how fields merge are facts; descriptions are not taken over.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TABLES = ROOT / "src" / "kubevirt" / "apiserver" / "kinds" / "builtin"
Get = Callable[[str], Awaitable[bytes]]
Definitions = Mapping[str, Any]

GROUPS = {
    "": "core",
    "admissionregistration.k8s.io": "admissionregistration",
    "apiextensions.k8s.io": "apiextensions",
    "apiregistration.k8s.io": "apiregistration",
    "apps": "apps",
    "authentication.k8s.io": "authentication",
    "authorization.k8s.io": "authorization",
    "autoscaling": "autoscaling",
    "coordination.k8s.io": "coordination",
    "discovery.k8s.io": "discovery",
    "events.k8s.io": "events",
    "policy": "policy",
    "rbac.authorization.k8s.io": "rbac",
    "scheduling.k8s.io": "scheduling",
    "storage.k8s.io": "storage",
}
KINDS = {
    "": (
        "Binding ConfigMap Endpoints Event Namespace Node PersistentVolume PersistentVolumeClaim Pod"
        " Secret Service ServiceAccount"
    ),
    "admissionregistration.k8s.io": "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
    "apiextensions.k8s.io": "CustomResourceDefinition",
    "apiregistration.k8s.io": "APIService",
    "apps": "ControllerRevision",
    "authentication.k8s.io": "SelfSubjectReview TokenReview",
    "authorization.k8s.io": (
        "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview"
    ),
    "coordination.k8s.io": "Lease",
    "discovery.k8s.io": "EndpointSlice",
    "events.k8s.io": "Event",
    "policy": "PodDisruptionBudget",
    "rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "scheduling.k8s.io": "PriorityClass",
    "storage.k8s.io": "StorageClass",
}
"""Those that are served; all other kinds do not exist here."""

EVERY_VERB = 8
SUBRESOURCES = {
    "attach",
    "binding",
    "ephemeralcontainers",
    "eviction",
    "exec",
    "finalize",
    "log",
    "portforward",
    "status",
    "token",
}
BODIES = {
    "authentication.k8s.io": "TokenRequest",
    "autoscaling": "Scale",
    "policy": "Eviction",
}
"""Kinds that only subresources take or give."""

BESIDE = {"DeleteOptions", "ListMeta"}
"""Types that belong to no kind."""

PLAIN = {
    "FieldsV1": "fields",
    "IntOrString": "int-or-string",
    "JSON": "json",
    "JSONSchemaPropsOrArray": "schema-or-array",
    "JSONSchemaPropsOrBool": "schema-or-bool",
    "JSONSchemaPropsOrStringArray": "schema-or-strings",
    "MicroTime": "time",
    "Quantity": "quantity",
    "RawExtension": "raw",
    "Time": "time",
}


async def types_table(get: Get) -> str:
    definitions: dict[str, Any] = {}
    for group in GROUPS:
        body = json.loads(await get(f"/openapi/v3/{_prefix(group)}/v1"))
        definitions |= body["components"]["schemas"]
    names = _short_names(_reachable(definitions))
    lines: list[str] = []
    for full, name in sorted(names.items(), key=lambda item: item[1]):
        if _last(full) not in PLAIN:
            lines += _type_lines(name, definitions[full], names)
    return "\n".join(lines) + "\n"


def _prefix(group: str) -> str:
    return f"apis/{group}" if group else "api"


def _last(full: str) -> str:
    return full.rpartition(".")[2]


def _reachable(definitions: Definitions) -> set[str]:
    """All types that the served kinds consist of."""
    wanted = {(group, kind) for group, kinds in KINDS.items() for kind in kinds.split()}
    wanted |= set(BODIES.items())
    found: set[str] = set()
    left = [
        name
        for name, schema in definitions.items()
        if wanted & set(_kinds_of(schema)) or _last(name) in BESIDE
    ]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += _references(definitions[name])
    return found


def _kinds_of(schema: Definitions) -> Iterator[tuple[str, str]]:
    for each in schema.get("x-kubernetes-group-version-kind", ()):
        if each["version"] == "v1":
            yield each["group"], each["kind"]


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(reference := schema.get("$ref"), str):
            yield _target(reference)
        for each in schema.values():
            yield from _references(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _references(each)


def _target(reference: str) -> str:
    return reference.rpartition("/")[2]


def _short_names(full_names: Iterable[str]) -> dict[str, str]:
    """The last word of a name; where two would be the same, the group of the less known is added."""
    by_last: dict[str, list[str]] = {}
    for full in full_names:
        by_last.setdefault(_last(full), []).append(full)
    return {
        full: last
        if len(same) == 1 or _group(full) in {"core", "meta"}
        else f"{_group(full)}.{last}"
        for last, same in by_last.items()
        for full in same
    }


def _group(full: str) -> str:
    words = full.split(".")
    if "apiextensions-apiserver" in words:
        return "apiextensions"
    if "kube-aggregator" in words:
        return "apiregistration"
    return "meta" if "apimachinery" in words else words[3]


def _type_lines(name: str, schema: Definitions, names: Mapping[str, str]) -> Iterator[str]:
    yield name + (" atomic" if schema.get("x-kubernetes-map-type") == "atomic" else "")
    required = schema.get("required", ())
    for field, shape in sorted(schema.get("properties", {}).items()):
        mark = "!" if field in required else ""
        options = "".join(f" {each}" for each in _options(shape))
        yield f"  {field:<27} {_shape(shape, names)}{mark}{options}"


def _shape(schema: Definitions, names: Mapping[str, str]) -> str:
    schema = {**schema, **schema.get("allOf", [{}])[0]}
    if "$ref" in schema:
        full = _target(schema["$ref"])
        return PLAIN.get(_last(full)) or names[full]
    match schema:
        case {"type": "array", "items": items}:
            return f"[{_shape(items, names)}]"
        case {"type": "object", "additionalProperties": dict() as values}:
            return f"{{{_shape(values, names)}}}"
        case {"type": "string", "format": "byte"}:
            return "bytes"
        case {"type": "string", "format": "date-time"}:
            return "time"
        case {"type": "integer" | "number", "format": form}:
            return str(form)
        case {"type": type_}:
            return str(type_)
    return "any"


def _options(schema: Definitions) -> Iterator[str]:
    # Go's zero values are shown as defaults; they mean nothing.
    if schema.get("default") not in (None, {}, "", 0, False):
        yield f"={json.dumps(schema['default'])}"
    if values := [each for each in schema.get("enum", ()) if each]:
        yield f"in({','.join(values)})"
    if keys := schema.get("x-kubernetes-list-map-keys"):
        yield f"map({','.join(keys)})"
    elif kind := schema.get("x-kubernetes-list-type") or schema.get("x-kubernetes-map-type"):
        yield str(kind)
    key = schema.get("x-kubernetes-patch-merge-key")
    for word in filter(None, schema.get("x-kubernetes-patch-strategy", "").split(",")):
        yield f"merge({key})" if word == "merge" and key else word


async def resources_table(get: Get) -> str:
    """The group and its version, then a resource a line: names, scope, verbs, what is below it."""
    lines: list[str] = []
    for group, kinds in KINDS.items():
        found = json.loads(await get(f"/{_prefix(group)}/v1"))["resources"]
        lines.append(f"{group or 'core'} v1")
        lines += [line for line in _resource_lines(found, set(kinds.split())) if line]
    return "\n".join(lines) + "\n"


def _resource_lines(found: list[Any], kinds: set[str]) -> Iterator[str]:
    below: dict[str, list[str]] = {}
    for each in found:
        plural, _, subresource = each["name"].partition("/")
        if subresource in SUBRESOURCES:
            below.setdefault(plural, []).append(subresource)
    for each in found:
        if "/" in each["name"] or each["kind"] not in kinds:
            continue
        words = [each["name"], each["singularName"], each["kind"]]
        words.append("namespaced" if each["namespaced"] else "cluster")
        words += [f"short({','.join(names)})" for names in [each.get("shortNames")] if names]
        words += [f"in({','.join(names)})" for names in [each.get("categories")] if names]
        if len(each["verbs"]) < EVERY_VERB:
            words.append(f"verbs({','.join(sorted(each['verbs']))})")
        words += [
            f"below({','.join(sorted(names))})" for names in [below.get(each["name"])] if names
        ]
        yield "  " + " ".join(words)


def bodies() -> Iterator[tuple[str, str]]:
    """What requests may carry: the package of each kind, and its name."""
    for group, kinds in KINDS.items():
        yield from ((GROUPS[group], kind) for kind in kinds.split())
    yield from ((GROUPS[group], kind) for group, kind in BODIES.items())
    yield "meta", "DeleteOptions"


def type_names() -> set[str]:
    """Those of the table of types."""
    lines = (TABLES / "types.txt").read_text().splitlines()
    return {line.split()[0] for line in lines if not line.startswith(" ")}


async def main() -> None:
    sys.path[:0] = [str(ROOT), str(ROOT / "cluster-up")]
    from scripts import wire_numbers  # noqa: PLC0415

    from clusterup.light import LightCluster  # noqa: PLC0415  # after the path is set
    from kubevirt.kube.access import kubeconfig  # noqa: PLC0415
    from kubevirt.kube.client import Client  # noqa: PLC0415

    async with (
        LightCluster() as cluster,
        Client(kubeconfig.load([cluster.kubeconfig], os.environ)) as client,
    ):

        async def get(path: str) -> bytes:
            return await client.raw("GET", path)

        (TABLES / "types.txt").write_text(await types_table(get))
        (TABLES / "resources.txt").write_text(await resources_table(get))
    (TABLES / "wire.txt").write_text(wire_numbers.wire_table(bodies(), type_names()))


if __name__ == "__main__":
    asyncio.run(main())
