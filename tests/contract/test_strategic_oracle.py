"""Strategic merge patches, held against a real server: its patch, and a replacement by what we make of it,
come to the same.

The kinds are those that have keyed lists in keyed lists, atomic lists beside them, sets, and lists that
forget the keys they are not told to keep. Most of a pod cannot change: there the refusal says what would
have changed, and must say the same.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import msgspec
import pytest
from tests.contract.twins import Object, refused

from kubevirt.apiserver.patch import strategic
from kubevirt.apiserver.schema.structural import Schema, compile_schema
from kubevirt.base.errors import UserError
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

STRATEGIC: Final = "application/strategic-merge-patch+json"
MERGE: Final = "application/merge-patch+json"
_numbers = count()


@dataclass(frozen=True)
class Patched:
    """An object to patch, and the patches."""

    group_version: str
    kind: str
    plural: str
    body: Object
    patches: tuple[Any, ...]
    subresource: str = ""
    namespaced: bool = True

    @property
    def prefix(self) -> str:
        return f"api/{self.group_version}" if self._is_core else f"apis/{self.group_version}"

    @property
    def _is_core(self) -> bool:
        return "/" not in self.group_version

    def path(self, namespace: str, name: str = "", subresource: str = "") -> str:
        home = f"namespaces/{namespace}" if self.namespaced else ""
        parts = (self.prefix, home, self.plural, name, subresource)
        return "/" + "/".join(part for part in parts if part)


POD_BODY: Final[Object] = {
    "spec": {
        "schedulerName": "nobody",
        "terminationGracePeriodSeconds": 0,
        "containers": [
            {
                "name": "web",
                "image": "web:1",
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                "ports": [
                    {"containerPort": 80, "name": "http"},
                    {"containerPort": 443, "name": "https"},
                ],
                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                "args": ["-v", "-x"],
            },
            {"name": "side", "image": "side:1"},
        ],
        "volumes": [
            {"name": "data", "emptyDir": {}},
            {"name": "conf", "configMap": {"name": "c"}},
        ],
        "nodeSelector": {"zone": "a"},
        "tolerations": [{"key": "k", "operator": "Exists"}],
        "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}],
        "imagePullSecrets": [{"name": "s"}],
        "resourceClaims": [
            {"name": "one", "resourceClaimName": "one"},
            {"name": "two", "resourceClaimName": "two"},
        ],
    },
}


def _spec(**spec: Any) -> Object:
    return {"spec": spec}


POD: Final = Patched(
    "v1",
    "Pod",
    "pods",
    POD_BODY,
    (
        _spec(containers=[{"name": "web", "image": "web:2"}]),
        _spec(containers=[{"name": "side", "image": "side:2"}, {"name": "web", "image": "web:2"}]),
        _spec(containers=[{"name": "new", "image": "new:1"}]),
        _spec(containers=[{"name": "web", "$patch": "delete"}]),
        _spec(containers=[{"$patch": "replace"}, {"name": "only", "image": "only:1"}]),
        _spec(containers=[{"name": "web", "env": [{"name": "B", "$patch": "delete"}]}]),
        _spec(containers=[{"name": "web", "env": [{"name": "C", "value": "3"}], "args": ["-z"]}]),
        _spec(containers=[{"name": "web", "env": None, "ports": [{"containerPort": 81}]}]),
        _spec(containers=[{"name": "web", "ports": [{"containerPort": 80, "name": "plain"}]}]),
        _spec(**{"$setElementOrder/containers": [{"name": "side"}, {"name": "web"}]}),
        _spec(volumes=[{"name": "data", "$retainKeys": ["name"], "hostPath": {"path": "/"}}]),
        _spec(volumes=[{"name": "data", "$retainKeys": "name"}]),
        _spec(nodeSelector={"$patch": "frob"}),
        _spec(nodeSelector={"zone": None, "disk": "ssd"}),
        _spec(tolerations=[{"key": "other", "operator": "Exists"}]),
        _spec(tolerations=[{"key": "k", "operator": "Exists"}, {"key": "l", "operator": "Exists"}]),
        _spec(hostAliases=[{"ip": "10.0.0.2", "hostnames": ["b"]}]),
        _spec(imagePullSecrets=[{"name": "t"}, {"name": "s"}]),
        _spec(containers=[{"image": "nameless"}]),
        _spec(containers=[{"name": "web", "$patch": "frob"}]),
        _spec(containers=[{"name": "web", "$patch": "merge"}]),
        _spec(securityContext={"runAsUser": 1, "sysctls": [{"name": "a", "value": None}]}),
        _spec(activeDeadlineSeconds=30),
        {},
        [1],
    ),
)

_CLAIM: Final = "resourceClaimStatuses"
POD_STATUS: Final = Patched(
    "v1",
    "Pod",
    "pods",
    {
        **POD_BODY,
        "status": {
            "phase": "Pending",
            "message": "waits",
            "conditions": [
                {"type": "Ready", "status": "False", "reason": "Because"},
                {"type": "Initialized", "status": "True"},
            ],
            "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}],
            _CLAIM: [
                {"name": "one", "resourceClaimName": "first"},
                {"name": "two", "resourceClaimName": "second"},
            ],
        },
    },
    (
        {"status": {"conditions": [{"type": "Ready", "status": "True"}]}},
        {"status": {"conditions": [{"type": "Ready", "status": "True", "reason": None}]}},
        {"status": {"conditions": [{"type": "PodScheduled", "status": "True"}], "message": None}},
        {"status": {"conditions": [{"type": "Ready", "$patch": "delete"}]}},
        {
            "status": {
                "$setElementOrder/conditions": [{"type": "Initialized"}, {"type": "Ready"}],
                "conditions": [{"type": "Initialized", "status": "False"}],
            }
        },
        {"status": {_CLAIM: [{"name": "one", "$retainKeys": ["name"]}]}},
        {
            "status": {
                _CLAIM: [
                    {"name": "one", "$retainKeys": ["name", "resourceClaimName"]},
                    {"name": "two", "resourceClaimName": "third"},
                ]
            }
        },
        {"status": {_CLAIM: [{"name": "one", "$retainKeys": ["name"], "resourceClaimName": "x"}]}},
        {"status": {_CLAIM: [{"$patch": "replace"}]}},
        {"status": {"$retainKeys": ["phase"]}},
        {"status": {"$retainKeys": ["phase"], "phase": "Running"}},
        {"status": {"$patch": "replace", "phase": "Running"}},
        {"status": {"$patch": "delete"}},
        {"status": None},
    ),
    subresource="status",
)


def _hook(name: str, **more: Any) -> Object:
    return {
        "name": f"{name}.house.example",
        "admissionReviewVersions": ["v1", "v1beta1"],
        "sideEffects": "None",
        "failurePolicy": "Ignore",
        "clientConfig": {"url": "https://127.0.0.1:1/nobody"},
        "rules": [
            {
                "apiGroups": ["nobody.example"],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["things"],
            }
        ],
        **more,
    }


def _when(name: str, expression: str = "true") -> Object:
    return {"name": name, "expression": expression}


def _hooks(*hooks: Any, order: tuple[str, ...] = ()) -> Object:
    patch: Object = {"webhooks": list(hooks)} if hooks else {}
    if order:
        names = [{"name": f"{each}.house.example"} for each in order]
        patch["$setElementOrder/webhooks"] = names
    return patch


_ONE: Final = "one.house.example"
_TWO: Final = "two.house.example"
WEBHOOKS: Final = Patched(
    "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    {
        "webhooks": [
            _hook(
                "one",
                matchConditions=[_when("A"), _when("B"), _when("C", "false")],
                namespaceSelector={"matchLabels": {"zone": "a", "disk": "hdd"}},
            ),
            _hook("two"),
        ]
    },
    (
        _hooks({"name": _ONE, "timeoutSeconds": 3}),
        _hooks(_hook("three")),
        _hooks({"name": _TWO, "timeoutSeconds": 2}, {"name": _ONE, "timeoutSeconds": 1}),
        _hooks({"name": _ONE, "$patch": "delete"}),
        _hooks({"name": "none.house.example", "$patch": "delete"}),
        _hooks({"$patch": "replace"}, _hook("only")),
        _hooks({"$patch": "replace"}),
        _hooks({"name": _ONE, "$patch": "replace", **_hook("one", timeoutSeconds=7)}),
        _hooks({"name": _ONE, "matchConditions": [{"name": "B", "$patch": "delete"}]}),
        _hooks({"name": _ONE, "matchConditions": [_when("D")], "admissionReviewVersions": ["v1"]}),
        _hooks({"name": _ONE, "matchConditions": None, "timeoutSeconds": None}),
        _hooks({"name": _ONE, "matchConditions": [_when("A", "1 == 1"), _when("C")]}),
        _hooks(
            {
                "name": _ONE,
                "$setElementOrder/matchConditions": [
                    *({"name": "D"}, {"name": "C"}, {"name": "B"}, {"name": "A"}),
                ],
                "matchConditions": [_when("D")],
            }
        ),
        _hooks(
            {
                "name": _ONE,
                "$setElementOrder/matchConditions": [{"name": "B"}, {"name": "D"}],
                "matchConditions": [_when("D")],
            }
        ),
        _hooks(order=("two", "one")),
        _hooks(_hook("new"), order=("two", "new")),
        _hooks(_hook("new"), _hook("other"), order=("new",)),
        _hooks({"timeoutSeconds": 1}),
        _hooks({"name": _ONE, "$patch": "frob"}),
        _hooks({"name": _ONE, "$patch": "merge", "timeoutSeconds": 4}),
        _hooks({"name": _ONE, "namespaceSelector": {"matchLabels": {"zone": None, "x": "y"}}}),
        _hooks(
            {
                "name": _ONE,
                "namespaceSelector": {"matchLabels": {"$patch": "replace", "x": "y"}},
            }
        ),
        _hooks({"name": _ONE, "namespaceSelector": {"$patch": "delete"}}),
        _hooks({"name": _ONE, "namespaceSelector": {"$patch": "frob"}}),
        _hooks(
            {
                "name": _ONE,
                "clientConfig": {
                    "$retainKeys": ["service"],
                    "service": {"name": "s", "namespace": "n"},
                },
            }
        ),
        _hooks({"name": _ONE, "clientConfig": {"$retainKeys": ["caBundle"], "url": "https://x"}}),
        _hooks({"name": _ONE, "rules": [{"operations": ["DELETE"]}]}),
        {"webhooks": None},
        {"webhooks": [1]},
    ),
    namespaced=False,
)

SERVICE: Final = Patched(
    "v1",
    "Service",
    "services",
    {
        "spec": {
            "clusterIP": "None",
            "selector": {"app": "x", "tier": "front"},
            "ports": [
                {"name": "dns", "port": 53, "protocol": "UDP"},
                {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
                {"name": "web", "port": 80, "targetPort": "http"},
            ],
            "externalIPs": ["10.1.0.1", "10.1.0.2"],
        }
    },
    (
        _spec(ports=[{"port": 80, "name": "plain"}]),
        _spec(ports=[{"port": 81, "name": "more"}]),
        _spec(ports=[{"port": 53, "protocol": "TCP", "targetPort": 5353}]),
        _spec(ports=[{"port": 53, "$patch": "delete"}]),
        _spec(ports=[{"$patch": "replace"}, {"port": 443}]),
        _spec(**{"$setElementOrder/ports": [{"port": 80}, {"port": 53}]}),
        _spec(ports=[{"name": "portless"}]),
        _spec(selector={"tier": None, "zone": "a"}),
        _spec(selector={"$patch": "replace", "only": "this"}),
        _spec(externalIPs=["10.1.0.3"]),
        _spec(externalIPs=None, sessionAffinity=None),
    ),
)

SERVICE_ACCOUNT: Final = Patched(
    "v1",
    "ServiceAccount",
    "serviceaccounts",
    {"secrets": [{"name": "a"}, {"name": "b"}], "imagePullSecrets": [{"name": "p"}]},
    (
        {"secrets": [{"name": "c"}]},
        {"secrets": [{"name": "a", "$patch": "delete"}], "imagePullSecrets": [{"name": "q"}]},
        {"$setElementOrder/secrets": [{"name": "b"}, {"name": "a"}]},
        {"$setElementOrder/secrets": [{"name": "b"}, {"name": "a"}], "secrets": [{"name": "c"}]},
    ),
)

CONFIG_MAP: Final = Patched(
    "v1",
    "ConfigMap",
    "configmaps",
    {
        "metadata": {"labels": {"a": "b"}, "finalizers": ["a.b/c", "d.e/f"]},
        "data": {"one": "1", "two": "2"},
    },
    (
        {"data": {"one": None, "three": "3"}},
        {"data": {"$patch": "replace", "three": "3"}},
        {"data": {"$retainKeys": ["one"]}},
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
        {
            "metadata": {
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "Secret", "name": "s", "uid": "1"},
                    {"apiVersion": "v1", "kind": "Secret", "name": "t", "uid": "2"},
                ]
            }
        },
        "text",
    ),
)

PATCHED: Final = {
    "pod": POD,
    "pod status": POD_STATUS,
    "webhooks": WEBHOOKS,
    "service": SERVICE,
    "service account": SERVICE_ACCOUNT,
    "config map": CONFIG_MAP,
}


@pytest.fixture
async def live(
    client: Client, namespace: str, request: pytest.FixtureRequest
) -> AsyncIterator[Object]:
    """An object of the kind that the test asks for by the name of it."""
    patched = PATCHED[request.node.callspec.params["name"]]
    metadata = {**patched.body.get("metadata", {}), "name": f"patched-{next(_numbers)}"}
    body = {
        **patched.body,
        "apiVersion": patched.group_version,
        "kind": patched.kind,
        "metadata": metadata,
    }
    made = msgspec.json.decode(await client.raw("POST", patched.path(namespace), body))
    path = patched.path(namespace, made["metadata"]["name"])
    if patched.subresource:
        made = {**made, "status": patched.body["status"]}
        made = msgspec.json.decode(await client.raw("PUT", f"{path}/{patched.subresource}", made))
    yield made
    await client.raw("PATCH", path, {"metadata": {"finalizers": None}}, content_type=MERGE)
    await client.raw("DELETE", path)


@pytest.mark.parametrize(
    ("name", "patch"),
    [(name, patch) for name, each in PATCHED.items() for patch in each.patches],
    ids=lambda value: str(value)[:100],
)
async def test_strategic_merge_patches(
    client: Client, namespace: str, live: Object, name: str, patch: Any
) -> None:
    patched = PATCHED[name]
    path = patched.path(namespace, live["metadata"]["name"], patched.subresource)
    expected = await _answer(client, "PATCH", path, patch, STRATEGIC)
    schema = await _schema(client, patched)
    try:
        merged = strategic.merge(live, patch, schema)
    except UserError as error:
        found = refused(str(error), set())
    else:
        found = await _answer(client, "PUT", path, merged, "application/json")
    assert found == expected


async def _schema(client: Client, patched: Patched) -> Schema:
    """As the server itself describes it."""
    document = msgspec.json.decode(await client.raw("GET", f"/openapi/v3/{patched.prefix}"))
    definitions = document["components"]["schemas"]
    found = next(each for each in definitions.values() if _is_of(each, patched))
    return compile_schema(found, definitions=definitions)


def _is_of(definition: Object, patched: Patched) -> bool:
    group, _, version = patched.group_version.rpartition("/")
    wanted = {"group": group, "version": version, "kind": patched.kind}
    return wanted in definition.get("x-kubernetes-group-version-kind", [])


async def _answer(client: Client, method: str, path: str, body: Any, content_type: str) -> Object:
    """Of a dry run; metadata that a server makes up is left out."""
    params = {"dryRun": "All", "fieldValidation": "Ignore"}
    try:
        answer = await client.raw(method, path, body, params=params, content_type=content_type)
    except ApiError as error:
        causes = {(cause.reason, cause.field, cause.message) for cause in error.causes}
        return refused(error.status.message, causes)
    decoded = msgspec.json.decode(answer)
    metadata = decoded.pop("metadata")
    kept = ("labels", "annotations", "finalizers", "ownerReferences")
    return {"metadata": {name: metadata.get(name) or None for name in kept}, **decoded}
