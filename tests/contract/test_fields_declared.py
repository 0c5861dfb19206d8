"""Every field that we declare of Kubernetes' own kinds is there on a server, by that name and of that type.

What a server has beside them is no matter: our types leave out what nobody here reads or writes. A name that is
wrong would be skipped in silence whenever an object is read, and refused, or dropped, when one is written.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest
from tests.contract.conftest import CRDS
from tests.contract.lamps import LAMP_CRD

from kubevirt.api import scheme
from kubevirt.api.core.options import DeleteOptions, Scale
from kubevirt.api.core.pod import Binding
from kubevirt.api.core.policy import Eviction
from kubevirt.api.core.reviews import TokenRequest
from kubevirt.api.definitions import DEFINITIONS
from kubevirt.api.meta import Status
from kubevirt.api.resource import Resource
from kubevirt.api.struct import Int32, Int64, IntOrString, MicroTime, Quantity, Struct
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NoSuchResource

Object = dict[str, Any]

OURS = {definition.resource.group for definition in DEFINITIONS}
KINDS = [
    each for each in vars(scheme).values() if isinstance(each, Resource) and each.group not in OURS
]
ASKED_ONLY = {"SubjectAccessReview", "SelfSubjectAccessReview", "TokenReview"}
"""Kinds that are answered and not kept."""

BODIES = (Binding, DeleteOptions, Eviction, Scale, Status, TokenRequest)
"""What calls take or give beside objects. All of it is described with the first group."""

WORDS: Mapping[Any, tuple[str, ...]] = {
    str: ("string", "byte"),
    bool: ("boolean",),
    int: ("int32", "int64"),
    float: ("double",),
    datetime: ("date-time",),
    Int32: ("int32",),
    Int64: ("int64",),
    IntOrString: ("IntOrString",),
    MicroTime: ("date-time",),
    Quantity: ("Quantity",),
}
"""What a server says of such a field: the last word of its definition's name, its format or its type."""


class Comparison:
    """A type and a schema, side by side."""

    def __init__(self, definitions: Mapping[str, Object]) -> None:
        self._definitions = definitions
        self._seen: set[tuple[Any, str]] = set()

    def complaints(self, hint: Any, schema: Object, path: str) -> Iterator[str]:
        name, schema = self._resolved(schema)
        hint = _peeled(hint)
        if hint in WORDS:
            said = _word(name, schema)
            if said not in WORDS[hint]:
                yield f"{path} is {said}, not {' or '.join(WORDS[hint])}"
        elif get_origin(hint) is tuple:
            if schema.get("type") != "array":
                yield f"{path} is no list"
                return
            yield from self.complaints(get_args(hint)[0], schema["items"], f"{path}[]")
        elif get_origin(hint) is Mapping:
            yield from self._of_a_map(get_args(hint)[1], schema, path)
        elif hint is not Any and (hint, name) not in self._seen:
            self._seen.add((hint, name))
            yield from self._of_a_struct(hint, schema, path)

    def _of_a_map(self, values: Any, schema: Object, path: str) -> Iterator[str]:
        if values is Any:
            if schema.get("type", "object") != "object":
                yield f"{path} is no object"
        elif "additionalProperties" in schema:
            yield from self.complaints(values, schema["additionalProperties"], f"{path}{{}}")
        else:
            yield f"{path} is no map"

    def _of_a_struct(self, type_: type[Struct], schema: Object, path: str) -> Iterator[str]:
        known = schema.get("properties", {})
        hints = get_type_hints(type_, include_extras=True)
        for field in msgspec.structs.fields(type_):
            below = f"{path}.{field.encode_name}"
            if field.encode_name not in known:
                yield f"{below} is not there"
                continue
            if field.required and field.encode_name not in schema.get("required", ()):
                yield f"{below} may be left out"
            yield from self.complaints(hints[field.name], known[field.encode_name], below)

    def _resolved(self, schema: Object) -> tuple[str, Object]:
        """The last word of the definition's name, and what it says."""
        [only] = schema.get("allOf", [schema])
        if "$ref" not in only:
            return "", schema
        name = only["$ref"].rpartition("/")[2]
        return name.rpartition(".")[2], self._definitions[name]


def _peeled(hint: Any) -> Any:
    """Without what is said of it beside its type, and whether it may be left out."""
    while hint not in WORDS:
        present = [each for each in get_args(hint) if each is not NoneType]
        if get_origin(hint) is Annotated or (
            get_origin(hint) in (Union, UnionType) and len(present) == 1
        ):
            hint = present[0]
        else:
            return hint
    return hint


def _word(name: str, schema: Object) -> str:
    if name in ("IntOrString", "Quantity"):
        return name
    return str(schema.get("format") or schema.get("type"))


async def definitions_of(client: Client, prefix: str) -> Mapping[str, Object]:
    document = msgspec.json.decode(await client.raw("GET", f"/openapi/v3/{prefix}"))
    definitions: Mapping[str, Object] = document["components"]["schemas"]
    return definitions


@pytest.mark.parametrize("resource", KINDS, ids=lambda each: each.group_resource)
async def test_the_fields_of_a_kind_are_the_servers(
    client: Client, resource: Resource[Any]
) -> None:
    definitions = await definitions_of(client, resource.path().strip("/").rpartition("/")[0])
    wanted = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    [schema] = [
        each
        for each in definitions.values()
        if wanted in each.get("x-kubernetes-group-version-kind", ())
    ]
    found = Comparison(definitions).complaints(resource.type, schema, resource.kind)
    assert not list(found)


@pytest.mark.parametrize("body", BODIES, ids=lambda each: each.__name__)
async def test_the_fields_of_a_body_are_the_servers(client: Client, body: type[Struct]) -> None:
    definitions = await definitions_of(client, "api/v1")
    [schema] = [
        each for name, each in definitions.items() if name.rpartition(".")[2] == body.__name__
    ]
    assert not list(Comparison(definitions).complaints(body, schema, body.__name__))


def test_a_field_that_is_not_the_servers_is_noticed() -> None:
    class Wrong(Struct, frozen=True, kw_only=True):
        boot_id: str
        port: Int64
        labels: Mapping[str, bool] = {}
        taints: tuple[int, ...] = ()

    taints = {"type": "array", "items": {"type": "string"}}
    port = {"type": "integer", "format": "int32"}
    labels = {"type": "object", "additionalProperties": {"type": "string"}}
    known = {"bootID": {"type": "string"}, "port": port, "labels": labels, "taints": taints}
    found = Comparison({}).complaints(Wrong, {"properties": known, "required": []}, "Wrong")
    assert list(found) == [
        "Wrong.bootId is not there",
        "Wrong.port may be left out",
        "Wrong.port is int32, not int64",
        "Wrong.labels{} is string, not boolean",
        "Wrong.taints[] is string, not int32 or int64",
    ]


# Whatever is stored can be read


async def test_everything_that_a_server_has_by_itself_can_be_read(client: Client) -> None:
    for resource in (each for each in KINDS if each.kind not in ASKED_ONLY):
        with suppress(NoSuchResource):  # the embedded server has no Deployments
            found = await client.list(resource)
            assert not found.undecodable, resource.group_resource


EMPTY: Mapping[Resource[Any], Object] = {
    scheme.ROLES: {},
    scheme.CLUSTER_ROLES: {},
    scheme.ENDPOINT_SLICES: {"addressType": "IPv4"},
    scheme.CONFIG_MAPS: {},
    scheme.SECRETS: {},
    scheme.SERVICE_ACCOUNTS: {},
    scheme.LEASES: {},
    scheme.NODES: {},
    scheme.POD_DISRUPTION_BUDGETS: {},
    scheme.MUTATING_WEBHOOKS: {},
    scheme.VALIDATING_WEBHOOKS: {},
    scheme.PRIORITY_CLASSES: {"value": 1},
    scheme.STORAGE_CLASSES: {"provisioner": "example.org/none"},
    scheme.ROLE_BINDINGS: {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "none"}
    },
    scheme.PODS: {
        "spec": {
            "containers": [{"name": "main", "image": "nothing"}],
            "volumes": [{"name": "nothing", "projected": {}}],
        }
    },
}
"""As little as a server takes of each."""


@pytest.mark.parametrize("resource", EMPTY, ids=lambda each: each.group_resource)
async def test_an_object_that_says_nothing_can_be_read(
    client: Client, namespace: str, resource: Resource[Any]
) -> None:
    where = namespace if resource.namespaced else None
    made = await client.create(
        resource.raw, {"metadata": {"generateName": "says-nothing-"}, **EMPTY[resource]}, where
    )
    name = made["metadata"]["name"]
    try:
        found = await client.get(resource, name, where)
        assert found.metadata.name == name
    finally:
        if where is None:
            await client.delete(resource, name)


async def test_a_definition_can_be_read_from_its_first_moment(client: Client) -> None:
    """Its status has no conditions then."""
    crd = {
        "metadata": {"name": "lamps.first.example"},
        "spec": {**LAMP_CRD["spec"], "group": "first.example"},
    }
    try:
        made = await client.create(scheme.CUSTOM_RESOURCE_DEFINITIONS, crd)
        assert made.spec.group == "first.example"
    finally:
        await client.delete(CRDS, "lamps.first.example")
