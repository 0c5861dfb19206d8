"""Patches, held against a real server: the same patch on the same object gives the same."""

from itertools import count
from typing import Any

import msgspec
import pytest
from tests.contract.twins import Object, Twins, define_racks, refused

from kubevirt.apiserver.patch import strategic
from kubevirt.apiserver.schema.structural import Schema, compile_schema
from kubevirt.base.errors import UserError
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

_numbers = count()
STRATEGIC = "application/strategic-merge-patch+json"


@pytest.fixture
async def twins(client: Client) -> Twins:
    await define_racks(client)
    made = Twins(client, "default", f"patched-{next(_numbers)}")
    free = {"x": None, "y": {"z": 1}, "list": [{"a": 1}]}
    await made.create(
        "ann", {"size": 1, "tags": ["a", "b"], "free": free, "units": [{"name": "u"}]}
    )
    return made


@pytest.mark.parametrize(
    "patch",
    [
        {},
        {"spec": {"size": None, "free": {"x": 1, "y": {"z": None}}, "unknown": 1}},
        {"spec": None},
        {"spec": {"tags": None, "door": {"colour": {"b": None}}}},
        {"spec": {"tags": None, "door": {"colour": None, "handle": {"side": "left"}}}},
        {"spec": {"free": {"new": {"n": None, "m": [{"k": None}, None, [None]]}}}},
        {"spec": {"free": {"y": [None, {"a": None}], "x": {"a": None}, "list": {"b": None}}}},
        {"spec": {"free": {"list": [{"a": None, "b": {"c": None}}]}}},
        {"metadata": {"labels": {"a": "b"}, "annotations": None}},
        {"status": {"phase": "ignored"}},
        {"spec": {"size": "big"}},
        [1],
        "text",
    ],
    ids=str,
)
async def test_merge_patches(twins: Twins, patch: Any) -> None:
    await twins.merge_patch("bob", patch)


def _op(op: str, path: str | None = None, **more: Any) -> Object:
    return {"op": op, **({} if path is None else {"path": path}), **more}


@pytest.mark.parametrize(
    "operations",
    [
        [_op("test", "/spec/size", value=2)],
        [_op("test", "/spec/size", value=1), _op("replace", "/spec/size", value=2)],
        [_op("test", "/spec/size", value="1")],
        [_op("test", "/spec/none", value=2)],
        [_op("test", "/spec/none", value=None)],
        [_op("test", "/spec/none/x", value=2)],
        [_op("test", "/spec/tags/7", value="a")],
        [_op("test", "/spec/tags/x", value="a")],
        [_op("test", "/spec/tags", value=["a", "b"])],
        [_op("test", "/spec/free/y", value={"z": 1})],
        [_op("test", "/spec/free/x", value=None)],
        [_op("remove", "/spec/none")],
        [_op("remove", "/spec/none/a")],
        [_op("remove", "/spec/tags/0")],
        [_op("remove", "/spec/tags/5")],
        [_op("remove", "/spec/tags/-1")],
        [_op("remove", "/spec/tags/-3")],
        [_op("add", "/spec/a/b", value=1)],
        [_op("add", "/spec/tags/2", value="c")],
        [_op("add", "/spec/tags/3", value="c")],
        [_op("add", "/spec/tags/01", value="c")],
        [_op("add", "/spec/tags/x", value="c")],
        [_op("add", "/spec/tags/-", value="c")],
        [_op("add", "/spec/tags/-1", value="c")],
        [_op("add", "/spec/tags/-2", value="c")],
        [_op("add", "/spec/title")],
        [_op("add", "/metadata/labels", value={}), _op("add", "/metadata/labels/a~1b", value="c")],
        [
            _op("add", "/spec/free/a~0b", value={"c": []}),
            _op("add", "/spec/free/a~0b/c/-", value=1),
        ],
        [_op("replace", "/spec/title", value="c")],
        [_op("replace", "/spec/tags/0", value="c")],
        [_op("replace", "/spec/tags/9", value="c")],
        [_op("replace", "/spec/none/x", value="c")],
        [_op("replace", "", value=5)],
        [_op("move", "/spec/title", **{"from": "/spec/none"})],
        [_op("move", "/spec/title", **{"from": "/spec/tags/0"})],
        [_op("move", "/spec/free/q", **{"from": "/spec/free/y"})],
        [_op("copy", "/spec/title", **{"from": "/spec/none/q"})],
        [_op("copy", "/spec/title", **{"from": "/spec/none"})],
        [_op("copy", "/spec/a/b", **{"from": "/spec/size"})],
        [
            _op("copy", "/spec/free/q", **{"from": "/spec/free/y"}),
            _op("replace", "/spec/free/q/z", value=2),
        ],
        [_op("copy", "/spec/title")],
        [_op("frob", "/spec/none")],
        [_op("add", value=1)],
        [{"path": "/spec/size", "value": 1}],
        [_op("test", "", value={})],
        [_op("remove", "")],
        [_op("add", "spec", value=1)],
        [_op("add", "/spec/title", value="t", unknown=1)],
        [_op("add", "/spec/size", value="x")],
        [1],
        [{"op": 5, "path": "/a"}],
        [{"op": "add", "path": 5}],
    ],
    ids=str,
)
async def test_json_patches(twins: Twins, operations: list[Any]) -> None:
    await twins.json_patch("bob", *operations)


# Strategic merge, on a kind that has all of it

CONTAINERS = [
    {
        "name": "web",
        "image": "web:1",
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "ports": [{"containerPort": 80, "name": "http"}, {"containerPort": 443, "name": "https"}],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        "args": ["-v", "-x"],
    },
    {"name": "side", "image": "side:1"},
]
VOLUMES = [
    {"name": "data", "emptyDir": {}},
    {"name": "conf", "configMap": {"name": "c"}},
]
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"labels": {"a": "b"}, "finalizers": ["a.b/c", "d.e/f"]},
    "spec": {
        "selector": {"matchLabels": {"app": "x"}},
        "template": {
            "metadata": {"labels": {"app": "x"}},
            "spec": {
                "containers": CONTAINERS,
                "volumes": VOLUMES,
                "nodeSelector": {"zone": "a"},
                "tolerations": [{"key": "k", "operator": "Exists"}],
                "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}],
                "imagePullSecrets": [{"name": "s"}],
            },
        },
    },
}


@pytest.fixture
async def deployment(client: Client, namespace: str) -> Object:
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    named = {**DEPLOYMENT, "metadata": {**DEPLOYMENT["metadata"], "name": "web"}}  # type: ignore[dict-item]
    made: Object = msgspec.json.decode(await client.raw("POST", path, named))
    return made


@pytest.fixture
async def schema(client: Client) -> Schema:
    document = msgspec.json.decode(await client.raw("GET", "/openapi/v3/apis/apps/v1"))
    definitions = document["components"]["schemas"]
    return compile_schema(definitions["io.k8s.api.apps.v1.Deployment"], definitions=definitions)


def _pod(**spec: Any) -> Object:
    return {"spec": {"template": {"spec": spec}}}


@pytest.mark.parametrize(
    "patch",
    [
        _pod(containers=[{"name": "web", "image": "web:2"}]),
        _pod(containers=[{"name": "new", "image": "new:1"}]),
        _pod(containers=[{"name": "side", "image": "side:2"}, {"name": "web", "image": "web:2"}]),
        _pod(containers=[{"name": "web", "$patch": "delete"}]),
        _pod(containers=[{"$patch": "replace"}, {"name": "only", "image": "only:1"}]),
        _pod(containers=[{"name": "web", "env": [{"name": "B", "$patch": "delete"}]}]),
        _pod(containers=[{"name": "web", "env": [{"name": "C", "value": "3"}], "args": ["-z"]}]),
        _pod(containers=[{"name": "web", "env": None, "ports": [{"containerPort": 81}]}]),
        _pod(containers=[{"name": "web", "ports": [{"containerPort": 80, "name": "plain"}]}]),
        _pod(
            containers=[
                {
                    "name": "web",
                    "$setElementOrder/env": [{"name": "C"}, {"name": "B"}, {"name": "A"}],
                    "env": [{"name": "C", "value": "3"}],
                }
            ]
        ),
        _pod(**{"$setElementOrder/containers": [{"name": "side"}, {"name": "web"}]}),
        _pod(
            **{
                "$setElementOrder/containers": [{"name": "side"}, {"name": "new"}],
                "containers": [{"name": "new", "image": "n:1"}],
            }
        ),
        _pod(
            **{
                "$setElementOrder/containers": [{"name": "new"}],
                "containers": [{"name": "new", "image": "n"}, {"name": "x", "image": "x"}],
            }
        ),
        _pod(
            volumes=[
                {"name": "data", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}}
            ]
        ),
        _pod(volumes=[{"name": "data", "$retainKeys": ["name"], "hostPath": {"path": "/"}}]),
        _pod(volumes=[{"name": "data", "$retainKeys": "name"}]),
        _pod(nodeSelector={"zone": None, "disk": "ssd"}),
        _pod(nodeSelector={"$patch": "replace", "disk": "ssd"}),
        _pod(nodeSelector={"$patch": "delete"}),
        _pod(nodeSelector={"$patch": "frob"}),
        _pod(tolerations=[{"key": "other", "operator": "Exists"}]),
        _pod(hostAliases=[{"ip": "10.0.0.2", "hostnames": ["b"]}]),
        _pod(imagePullSecrets=[{"name": "t"}, {"name": "s"}]),
        _pod(containers=[{"image": "nameless"}]),
        _pod(containers=[{"name": "web", "$patch": "frob"}]),
        _pod(containers=[{"name": "web", "$patch": "merge"}]),
        _pod(securityContext={"runAsUser": 1, "sysctls": [{"name": "a", "value": None}]}),
        {"metadata": {"labels": {"a": None, "c": "d"}, "annotations": {"x": "y"}}},
        {"metadata": {"finalizers": ["g.h/i"]}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a.b/c"]}},
        {
            "metadata": {
                "$deleteFromPrimitiveList/finalizers": ["a.b/c"],
                "$setElementOrder/finalizers": ["g.h/i", "d.e/f"],
                "finalizers": ["g.h/i"],
            }
        },
        {"metadata": {"$deleteFromPrimitiveList": ["a.b/c"]}},
        {"metadata": {"$setElementOrder": ["a.b/c"]}},
        {"metadata": {"$setElementOrder/finalizers": "a.b/c"}},
        {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}},
        {"spec": {"strategy": {"type": "Recreate"}}},
        {"spec": {"replicas": 3, "minReadySeconds": None}},
        {},
        [1],
    ],
    ids=str,
)
async def test_strategic_merge_patches(
    client: Client, deployment: Object, schema: Schema, patch: Any
) -> None:
    """The server's patch, and a replacement by what we make of it, come to the same."""
    path = f"/apis/apps/v1/namespaces/{deployment['metadata']['namespace']}/deployments/web"
    expected = await _answer(client, "PATCH", path, patch, STRATEGIC)
    try:
        patched = strategic.merge(deployment, patch, schema)
    except UserError as error:
        found = refused(str(error), set())
    else:
        # Its controller writes too: what it says of its own is not compared.
        patched["metadata"] = {**patched["metadata"], "resourceVersion": ""}
        found = await _answer(client, "PUT", path, patched, "application/json")
    assert found == expected


async def _answer(client: Client, method: str, path: str, body: Any, content_type: str) -> Object:
    """Of a dry run; metadata that a server makes up is left out."""
    params = {"dryRun": "All", "fieldValidation": "Ignore"}
    try:
        answer = await client.raw(method, path, body, params=params, content_type=content_type)
    except ApiError as error:
        causes = {(cause.reason, cause.field, cause.message) for cause in error.causes}
        return refused(error.status.message, causes)
    decoded = msgspec.json.decode(answer)
    metadata = decoded["metadata"]
    metadata.get("annotations", {}).pop("deployment.kubernetes.io/revision", None)
    kept = {name: metadata.get(name) or None for name in ("labels", "annotations", "finalizers")}
    return {"metadata": kept, "spec": decoded["spec"]}
