"""Server-side apply of built-in kinds, held against a real server.

Their types come from the OpenAPI that the server itself serves. What defaults and controllers add is
not compared, only who applied what, and who is in whose way.
"""

from typing import Any

import msgspec
import pytest
from tests.contract.twins import APPLY, Object, refused

from kubevirt.apiserver.apply import writes
from kubevirt.apiserver.apply.conflicts import ApplyConflicts
from kubevirt.apiserver.apply.ownership import Kind
from kubevirt.apiserver.apply.types import type_of
from kubevirt.apiserver.schema.structural import compile_schema
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, NotFound


def _container(name: str, **more: Any) -> Object:
    return {"name": name, "image": f"{name}:1", **more}


PORTS = [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]
CLAIM = {
    "accessModes": ["ReadWriteOnce"],
    "storageClassName": "",
    "resources": {"requests": {"storage": "1Gi"}},
}
KINDS: dict[str, tuple[str, str, list[tuple[str, Object, bool]]]] = {
    "ConfigMap": (
        "api/v1",
        "configmaps",
        [
            ("ann", {"data": {"a": "1", "b": "2"}}, False),
            ("bob", {"data": {"b": "3"}}, False),
            ("bob", {"data": {"b": "3"}}, True),
            ("ann", {"data": {"c": "4"}, "metadata": {"labels": {"x": "y"}}}, False),
            ("ann", {"data": {"c": {"d": 1}}}, False),
            ("ann", {"datum": {}}, False),
        ],
    ),
    "Service": (
        "api/v1",
        "services",
        [
            (
                "ann",
                {"spec": {"ports": [{"port": 80, "name": "a"}], "selector": {"a": "b"}}},
                False,
            ),
            (
                "bob",
                {"spec": {"ports": [{"port": 81, "name": "b"}, {"port": 80, "name": "c"}]}},
                False,
            ),
            ("bob", {"spec": {"ports": [{"port": 81, "name": "b"}], "selector": {"c": "d"}}}, True),
            ("ann", {"spec": {"ports": [{"port": 80, "protocol": "UDP", "name": "u"}]}}, False),
        ],
    ),
    "Pod": (
        "api/v1",
        "pods",
        [
            (
                "ann",
                {
                    "spec": {
                        "schedulerName": "nobody",
                        "containers": [_container("a", ports=PORTS, args=["x"]), _container("b")],
                        "tolerations": [{"key": "k", "operator": "Exists"}],
                        "volumes": [{"name": "v", "emptyDir": {}}],
                    }
                },
                False,
            ),
            ("bob", {"spec": {"containers": [{"name": "a", "image": "a:2"}]}}, False),
            ("bob", {"spec": {"containers": [{"name": "a", "image": "a:2"}]}}, True),
            (
                "bob",
                {
                    "metadata": {"labels": {"x": "y"}},
                    "spec": {"containers": [{"name": "a", "image": "a:2"}, _container("b")]},
                },
                False,
            ),
            ("cid", {"spec": {"containers": [{"name": "a", "ports": PORTS[1:]}]}}, False),
            ("cid", {"spec": {"activeDeadlineSeconds": 500}}, False),
        ],
    ),
    "EndpointSlice": (
        "apis/discovery.k8s.io/v1",
        "endpointslices",
        [
            (
                "ann",
                {
                    "addressType": "IPv4",
                    "endpoints": [{"addresses": ["10.0.0.1"]}],
                    "ports": [{"name": "a", "port": 80}],
                },
                False,
            ),
            ("bob", {"addressType": "IPv4", "ports": [{"name": "b", "port": 81}]}, False),
            ("bob", {"addressType": "IPv4", "ports": [{"name": "b", "port": 81}]}, True),
            ("ann", {"addressType": "IPv4"}, False),
        ],
    ),
    "PersistentVolumeClaim": (
        "api/v1",
        "persistentvolumeclaims",
        [
            ("ann", {"spec": CLAIM, "metadata": {"labels": {"a": "1"}}}, False),
            ("bob", {"spec": CLAIM}, False),
            ("bob", {"metadata": {"labels": {"a": "2"}, "finalizers": ["x.y/z"]}}, False),
            ("bob", {"metadata": {"labels": {"a": "2"}, "finalizers": ["x.y/z"]}}, True),
            ("bob", {"metadata": {"labels": {"a": "2"}}}, False),
        ],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_owners_of_built_in_kinds(client: Client, namespace: str, kind: str) -> None:
    prefix, plural, steps = KINDS[kind]
    api_version = prefix.partition("/")[2]
    document = msgspec.json.decode(await client.raw("GET", f"/openapi/v3/{prefix}"))
    definitions = document["components"]["schemas"]
    name = next(each for each in definitions if each.rpartition(".v1.")[2] == kind)
    type_ = type_of(compile_schema(definitions[name], definitions=definitions))
    endpoint = Kind(api_version=api_version, kind=kind, types={api_version: type_})
    path = f"/{prefix}/namespaces/{namespace}/{plural}/one"
    for by, parts, force in steps:
        metadata = {"name": "one", "namespace": namespace, **parts.get("metadata", {})}
        said = {**parts, "apiVersion": api_version, "kind": kind, "metadata": metadata}
        live = await _live(client, path)
        found = _applied(live, said, endpoint, by, force=force)
        expected = await _really_applied(client, path, said, by, force=force)
        assert found == expected, f"\nfound    {found}\nexpected {expected}"


async def _live(client: Client, path: str) -> Object | None:
    try:
        live: Object = msgspec.json.decode(await client.raw("GET", path))
    except NotFound:
        return None
    return live


def _applied(live: Object | None, said: Object, kind: Kind, by: str, *, force: bool) -> Object:
    try:
        made = writes.apply(live, said, kind, by=by, now="2026-01-01T00:00:00Z", force=force)
    except ApplyConflicts as error:
        causes = {("FieldManagerConflict", each.field, each.message) for each in error.conflicts}
        return refused(str(error), causes)
    except writes.BadApply as error:
        return refused(str(error), set())
    return _appliers(made)


async def _really_applied(
    client: Client, path: str, said: Object, by: str, *, force: bool
) -> Object:
    params = {"fieldManager": by, "force": "true" if force else "false"}
    try:
        answer = await client.raw("PATCH", path, said, params=params, content_type=APPLY)
    except ApiError as error:
        causes = {(cause.reason, cause.field, cause.message) for cause in error.causes}
        return refused(error.status.message, causes)
    return _appliers(msgspec.json.decode(answer))


def _appliers(made: Object) -> Object:
    return {
        entry["manager"]: entry["fieldsV1"]
        for entry in made["metadata"].get("managedFields", [])
        if entry["operation"] == "Apply"
    }
