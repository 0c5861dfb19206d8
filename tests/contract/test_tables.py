"""What `kubectl get` prints: columns and cells as a server makes them, and as our functions do."""

import asyncio
from typing import Any

import msgspec
import pytest
from tests.contract.lamps import a_config_map, a_pod

from kubevirt.api.scheme import CONFIG_MAPS
from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.kinds.columns import layout_of
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.kube.client import Client
from kubevirt.kube.errors import BadRequest, NoSuchResource

TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
LISTED = [kind for kind in builtin.kinds() if "list" in kind.verbs]


def path_of(kind: Kind, namespace: str = "") -> str:
    version = kind.versions[0].name
    root = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
    place = f"/namespaces/{namespace}" if namespace and kind.namespaced else ""
    return f"{root}{place}/{kind.names.plural}"


async def table(client: Client, path: str, **params: str) -> dict[str, Any]:
    said = await client.raw("GET", path, params=params, accept=TABLE)
    found: dict[str, Any] = msgspec.json.decode(said)
    assert (found["kind"], found["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    return found


@pytest.mark.parametrize("kind", LISTED, ids=lambda kind: kind.group_resource)
async def test_columns_are_those_of_the_server(client: Client, kind: Kind) -> None:
    found = await table(client, path_of(kind))
    shown = [
        (each["name"], each["type"], each["format"], each["priority"])
        for each in found["columnDefinitions"]
    ]
    columns = layout_of(kind, kind.versions[0]).columns
    assert [(each.name, each.type, each.format, each.priority) for each in columns] == shown


SAMPLES: dict[str, dict[str, Any]] = {
    "configmaps": a_config_map("one", a="b", c="d"),
    "secrets": {"metadata": {"name": "one"}, "stringData": {"a": "b"}},
    "serviceaccounts": {"metadata": {"name": "one"}},
    "pods": a_pod("one"),
    "leases": {"metadata": {"name": "one"}, "spec": {"holderIdentity": "me"}},
    "controllerrevisions": {
        "metadata": {
            "name": "one",
            "ownerReferences": [
                {
                    "apiVersion": "example.org/v1",
                    "kind": "Thing",
                    "name": "owner",
                    "uid": "1",
                    "controller": True,
                }
            ],
        },
        "revision": 3,
        "data": {},
    },
    "poddisruptionbudgets": {
        "metadata": {"name": "one"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"no": "body"}}},
    },
    "rolebindings": {
        "metadata": {"name": "one"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "x"},
        "subjects": [
            {"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"},
            {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
        ],
    },
    "roles": {"metadata": {"name": "one"}, "rules": []},
    "endpointslices": {
        "metadata": {"name": "one"},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.1.2.3"]}],
        "ports": [{"name": "a", "port": 80, "protocol": "TCP"}],
    },
}


@pytest.mark.parametrize("plural", SAMPLES)
async def test_cells_are_those_of_the_server(client: Client, namespace: str, plural: str) -> None:
    kind = next(each for each in LISTED if each.names.plural == plural)
    path = path_of(kind, namespace)
    await client.raw("POST", path, SAMPLES[plural])
    found = await table(client, f"{path}/one")
    object_ = msgspec.json.decode(await client.raw("GET", f"{path}/one"))
    [row] = found["rows"]
    layout = layout_of(kind, kind.versions[0])
    names = [each["name"] for each in found["columnDefinitions"]]
    ours = dict(zip(names, layout.row(object_, 0), strict=True))
    theirs = dict(zip(names, row["cells"], strict=True))
    for cells in (ours, theirs):
        cells.pop("Age", None)
    assert ours == theirs
    assert row["object"]["kind"] == "PartialObjectMetadata"
    assert row["object"]["metadata"]["name"] == "one"


@pytest.mark.parametrize("path", ["configmaps", "configmaps/one"])
async def test_a_row_has_as_much_of_its_object_as_was_asked_for(
    client: Client, namespace: str, path: str
) -> None:
    """Whoever sorts by any field (`kubectl get --sort-by`) needs the whole of it."""
    await client.create(CONFIG_MAPS.raw, a_config_map("one", a="b"), namespace)
    place = f"/api/v1/namespaces/{namespace}/{path}"

    async def shown(included: str) -> Any:
        found = await table(client, place, includeObject=included)
        [row] = [each for each in found["rows"] if each["cells"][0] == "one"]
        return row["object"]

    whole = await shown("Object")
    assert (whole["kind"], whole["apiVersion"]) == ("ConfigMap", "v1")
    assert whole["data"] == {"a": "b"}
    assert (await shown("Metadata"))["kind"] == (await shown(""))["kind"] == "PartialObjectMetadata"
    assert await shown("None") is None
    with pytest.raises(BadRequest, match=r'includeObject: Invalid value: "Some"') as refused:
        await shown("Some")
    assert str(refused.value).endswith("must be 'Metadata', 'Object', 'None', or empty")


COLUMNS = [
    {"name": "Watts", "type": "integer", "jsonPath": ".spec.watts"},
    {"name": "Lit", "type": "boolean", "jsonPath": ".spec.lit"},
    {"name": "First", "type": "string", "jsonPath": ".spec.colours[0]"},
    {"name": "All", "type": "string", "jsonPath": ".spec.colours[*]"},
    {"name": "Ready", "type": "string", "jsonPath": '.spec.facts[?(@.type=="Ready")].status'},
    {"name": "Whole", "type": "string", "jsonPath": ".spec.map"},
    {"name": "Label", "type": "string", "jsonPath": r".metadata.labels.example\.org/a"},
    {"name": "None", "type": "string", "jsonPath": ".spec.none", "priority": 1},
    {"name": "When", "type": "date", "jsonPath": ".spec.when"},
    {"name": "Wrong", "type": "integer", "jsonPath": ".spec.map"},
]


async def test_columns_of_custom_resources_say_where_their_values_are(
    client: Client, namespace: str
) -> None:
    group = f"{namespace}.example"
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": free}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "additionalPrinterColumns": COLUMNS,
    }
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    names = {"plural": "bulbs", "kind": "Bulb"}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    name = f"bulbs.{group}"
    await client.raw("POST", crds, {"metadata": {"name": name}, "spec": spec})
    await until_served(client, f"/apis/{group}/v1/bulbs")
    path = f"/apis/{group}/v1/namespaces/{namespace}/bulbs"
    bulb = {
        "apiVersion": f"{group}/v1",
        "kind": "Bulb",
        "metadata": {"name": "one", "labels": {"example.org/a": "b"}},
        "spec": {
            "watts": 40,
            "lit": True,
            "colours": ["red", "blue"],
            "facts": [{"type": "Other", "status": "x"}, {"type": "Ready", "status": "True"}],
            "map": {"b": 1, "a": [True]},
            "when": "2001-01-01T00:00:00Z",
        },
    }
    await client.raw("POST", path, bulb)
    found = await table(client, path)
    [row] = found["rows"]
    when = row["cells"].pop(-2)
    assert row["cells"] == [
        "one",
        40,
        True,
        "red",
        "red",
        "True",
        '{"a":[true],"b":1}',
        "b",
        None,
        None,
    ]
    assert when.endswith("y")
    described = {each["name"]: each for each in found["columnDefinitions"]}
    assert described["None"]["priority"] == 1
    assert described["Watts"]["description"].endswith("(in JSONPath format): .spec.watts")
    await client.raw("DELETE", f"{crds}/{name}")


async def until_served(client: Client, path: str) -> None:
    async with asyncio.timeout(120):
        while True:
            try:
                await client.raw("GET", path)
            except NoSuchResource:
                await asyncio.sleep(0.05)
            else:
                return
