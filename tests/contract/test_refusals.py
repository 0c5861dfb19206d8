"""What a server says to requests that it cannot grant: the code, the reason and the words."""

import json
from typing import Any

import pytest
from tests.contract.lamps import CONFIG_MAPS, a_config_map, a_lamp

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

MAPS = "/api/v1/namespaces/{namespace}/configmaps"
PODS = "/api/v1/namespaces/{namespace}/pods"
LAMPS = "/apis/house.example/v1/namespaces/{namespace}/lamps"
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
LONG = "a" * 200


async def refusal(
    client: Client, method: str, path: str, body: Any = None, media: str = "", **params: str
) -> tuple[int, str, str]:
    with pytest.raises(ApiError) as caught:
        await client.raw(
            method, path, body, params=params, content_type=media or "application/json"
        )
    status = caught.value.status
    return status.code, status.reason, status.message


def named(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **more}}


@pytest.mark.parametrize(
    ("params", "code", "message"),
    [
        ({"limit": "x"}, 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        ({"labelSelector": "(("}, 400, "found '(', expected: !, identifier, or 'end of string'"),
        ({"labelSelector": "a in"}, 400, "unable to parse requirement: found '' expected: '('"),
        ({"fieldSelector": "a"}, 400, "invalid selector: 'a'; can't understand 'a'"),
        (
            {"fieldSelector": "data.x=y"},
            400,
            '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
        (
            {"resourceVersion": "x"},
            400,
            (
                'invalid resource version: resourceVersion: Invalid value: "x": '
                'strconv.ParseUint: parsing "x": invalid syntax'
            ),
        ),
        (
            {"resourceVersionMatch": "Exact"},
            422,
            (
                'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
                "resourceVersionMatch is forbidden unless resourceVersion is provided"
            ),
        ),
        (
            {"resourceVersion": "1", "resourceVersionMatch": "Foo"},
            422,
            (
                'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Foo": '
                'supported values: "Exact", "NotOlderThan", ""'
            ),
        ),
        (
            {"watch": "1", "sendInitialEvents": "true"},
            422,
            (
                'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            ),
        ),
        (
            {"watch": "1", "sendInitialEvents": "true", "resourceVersionMatch": "Exact"},
            422,
            (
                'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: '
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, "
                'resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]'
            ),
        ),
        (
            {"watch": "1", "resourceVersionMatch": "Exact", "continue": "x"},
            422,
            (
                'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: '
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided, "
                'resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan", '
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is "
                "provided]"
            ),
        ),
        (
            {"resourceVersionMatch": "Foo", "continue": "x", "sendInitialEvents": "true"},
            422,
            (
                'ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: '
                "resourceVersionMatch is forbidden unless resourceVersion is provided, "
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is "
                'provided, resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", '
                '"NotOlderThan", "", sendInitialEvents: Forbidden: sendInitialEvents is forbidden for '
                "list]"
            ),
        ),
    ],
    ids=str,
)
async def test_lists_that_cannot_be(
    client: Client, namespace: str, params: dict[str, str], code: int, message: str
) -> None:
    found = await refusal(client, "GET", MAPS.format(namespace=namespace), **params)
    assert (found[0], found[2]) == (code, message)


async def test_a_page_of_another_version_than_the_first_cannot_be(
    client: Client, namespace: str
) -> None:
    path = MAPS.format(namespace=namespace)
    for name in ("a", "b"):
        await client.create(CONFIG_MAPS, a_config_map(name), namespace)
    first = json.loads(await client.raw("GET", path, params={"limit": "1"}))["metadata"]
    page = {"limit": "1", "continue": first["continue"]}
    found = await refusal(client, "GET", path, **page, resourceVersion=first["resourceVersion"])
    words = "specifying resource version is not allowed when using continue"
    assert found == (400, "BadRequest", words)
    # Any version: that of the first page, and all of what is left of it.
    rest = json.loads(await client.raw("GET", path, params={**page, "resourceVersion": "0"}))
    assert rest["items"][0]["metadata"]["name"] == "b"
    assert "continue" not in rest["metadata"]


@pytest.mark.parametrize(
    ("body", "params", "code", "message"),
    [
        (named("a", namespace="other"), {}, 400, "the namespace of the provided object does not"),
        (named("a", resourceVersion="1"), {}, 500, "resourceVersion should not be set on objects"),
        (
            {"metadata": {}},
            {},
            422,
            'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
        ),
        (
            {**named("a"), "data": {"a": 1}},
            {},
            400,
            (
                'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal '
                "number into Go struct field ConfigMap.data of type string"
            ),
        ),
        (
            {**named("a"), "x": 1},
            {"fieldValidation": "Strict"},
            400,
            (
                'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
                'unknown field "x"'
            ),
        ),
        (
            {**named("a"), "data": {"a/b": "c"}},
            {},
            422,
            'ConfigMap "a" is invalid: data[a/b]: Invalid value: "a/b": a valid config key must',
        ),
        (
            named("a"),
            {"fieldValidation": "Foo"},
            422,
            (
                'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Foo": '
                'supported values: "", "Ignore", "Strict", "Warn"'
            ),
        ),
        (
            named("a"),
            {"dryRun": "x"},
            422,
            'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported',
        ),
        (
            named("a"),
            {"fieldManager": LONG},
            422,
            'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than',
        ),
        (
            {"apiVersion": "v2", "kind": "ConfigMap", **named("a")},
            {},
            400,
            'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is',
        ),
        ([], {}, 400, "the object provided is unrecognized (must be of type ConfigMap): couldn't"),
    ],
    ids=str,
)
async def test_objects_that_cannot_be_created(
    client: Client, namespace: str, body: Any, params: dict[str, str], code: int, message: str
) -> None:
    path = MAPS.format(namespace=namespace)
    found = await refusal(client, "POST", path, body, **params)
    assert found[0] == code
    assert found[2].startswith(message)


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (named("none"), 404, 'configmaps "none" not found'),
        (named("other"), 400, "the name of the object (other) does not match the name on the URL"),
        ({"metadata": {}}, 400, "the name of the object (none based on URL) was undeterminable"),
    ],
    ids=str,
)
async def test_updates_of_what_is_not_there(
    client: Client, namespace: str, body: Any, code: int, message: str
) -> None:
    path = MAPS.format(namespace=namespace) + "/none"
    found = await refusal(client, "PUT", path, body)
    assert found[0] == code
    assert found[2].startswith(message)


@pytest.mark.parametrize(
    ("media", "params", "code", "message"),
    [
        (MERGE, {}, 404, 'configmaps "none" not found'),
        ("application/foo", {}, 415, "415: Unsupported Media Type"),
        (
            MERGE,
            {"force": "true"},
            422,
            'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for',
        ),
        (
            APPLY,
            {},
            422,
            'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for',
        ),
        (APPLY, {"fieldManager": "ann"}, 400, "invalid object type: /, Kind="),
    ],
    ids=str,
)
async def test_patches_that_cannot_be(
    client: Client,
    namespace: str,
    media: str,
    params: dict[str, str],
    code: int,
    message: str,
) -> None:
    path = MAPS.format(namespace=namespace) + "/none"
    found = await refusal(client, "PATCH", path, {}, media, **params)
    assert found[0] == code
    assert found[2].startswith(message)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"propagationPolicy": "Foo"},
            (
                'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Foo": '
                'supported values: "Foreground", "Background", "Orphan", "nil"'
            ),
        ),
        (
            {"propagationPolicy": "Foreground", "orphanDependents": "true"},
            (
                'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Foreground": '
                "orphanDependents and deletionPropagation cannot be both set"
            ),
        ),
    ],
    ids=str,
)
async def test_deletions_that_cannot_be(
    client: Client, namespace: str, params: dict[str, str], message: str
) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace)
    path = MAPS.format(namespace=namespace) + "/one"
    assert await refusal(client, "DELETE", path, **params) == (422, "Invalid", message)


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("POST", "/api/v1/configmaps", 405),
        ("DELETE", "/api/v1/configmaps", 405),
        ("POST", MAPS + "/one", 405),
        ("GET", MAPS + "/one/scale", 404),
        ("GET", MAPS + "/one/more/and/more", 404),
        ("GET", PODS + "/one/status/more", 404),
        ("PUT", PODS + "/one/status/more", 404),
        ("GET", PODS + "/one/log/more", 404),
        ("POST", PODS + "/one/exec/more", 404),
        ("GET", "/api/v1/namespaces/{namespace}/status/more", 404),
        ("GET", "/api/v1/namespaces/{namespace}/nodes", 404),
        ("GET", "/apis/apps/v3", 404),
        ("DELETE", "/api/v1/namespaces", 405),
        ("PUT", MAPS, 405),
        ("PATCH", MAPS, 405),
    ],
)
async def test_paths_and_methods_that_are_none(
    client: Client, namespace: str, method: str, path: str, code: int
) -> None:
    body = named("one") if method in ("POST", "PUT") else None
    found = await refusal(client, method, path.format(namespace=namespace), body)
    words = {
        404: ("NotFound", "the server could not find the requested resource"),
        405: (
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        ),
    }
    assert found == (code, *words[code])


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/hall/more", (404, "NotFound", 'lamps.house.example "hall" not found')),
        ("DELETE", "/hall/more/x", (404, "NotFound", 'lamps.house.example "hall" not found')),
        (
            *("DELETE", "/hall/status"),
            (
                *(405, "MethodNotAllowed"),
                'delete is not supported on resources of kind "lamps.house.example"',
            ),
        ),
        (
            *("POST", "/hall/scale"),
            (
                *(405, "MethodNotAllowed"),
                'create is not supported on resources of kind "lamps.house.example"',
            ),
        ),
        ("PUT", "", (400, "BadRequest", "name must be provided")),
        ("PATCH", "", (400, "BadRequest", "name must be provided")),
    ],
)
async def test_paths_and_methods_that_no_custom_resource_has(
    client: Client,
    namespace: str,
    lamps: Resource[dict[str, Any]],
    method: str,
    path: str,
    expected: tuple[int, str, str],
) -> None:
    await client.create(lamps, a_lamp("hall"), namespace)
    media = MERGE if method == "PATCH" else ""
    body = None if method in ("GET", "DELETE") else named("hall")
    base = LAMPS.format(namespace=namespace)
    assert await refusal(client, method, base + path, body, media) == expected
    found = json.loads(await client.raw("GET", f"{base}/hall/status/more"))
    assert found["metadata"]["name"] == "hall", "nobody looks at what is behind a part"


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (named("hall"), 400, "the object provided is unrecognized (must be of type Lamp): Object"),
        (
            {"apiVersion": "house.example/v2", "kind": "Lamp", **named("hall")},
            400,
            "the API version in the data (house.example/v2) does not match the expected API version",
        ),
        (
            {"apiVersion": "house.example/v1", "kind": "Candle", **named("hall")},
            422,
            'Candle.house.example "hall" is invalid: kind: Invalid value: "Candle": must be Lamp',
        ),
    ],
    ids=str,
)
async def test_custom_resources_must_say_what_they_are(
    client: Client,
    namespace: str,
    lamps: Resource[dict[str, Any]],
    body: Any,
    code: int,
    message: str,
) -> None:
    found = await refusal(client, "POST", LAMPS.format(namespace=namespace), body)
    assert found[0] == code
    assert found[2].startswith(message)


async def test_a_custom_resource_is_not_replaced_without_its_version(
    client: Client, namespace: str, lamps: Resource[dict[str, Any]]
) -> None:
    lamp = {"apiVersion": "house.example/v1", "kind": "Lamp", **named("hall")}
    path = LAMPS.format(namespace=namespace)
    await client.raw("POST", path, {**lamp, "spec": {"watts": 1}})
    found = await refusal(client, "PUT", f"{path}/hall", {**lamp, "spec": {"watts": 2}})
    assert found == (
        422,
        "Invalid",
        (
            'lamps.house.example "hall" is invalid: metadata.resourceVersion: Invalid value: 0: must be '
            "specified for an update"
        ),
    )


async def test_nothing_new_comes_into_a_namespace_that_is_going(client: Client) -> None:
    held = {"metadata": {"generateName": "going-", "finalizers": ["example.org/hold"]}}
    namespaces = Resource("", "v1", "namespaces", "Namespace", False, dict[str, Any])
    made = await client.create(namespaces, held)
    name = made["metadata"]["name"]
    await client.delete(namespaces, name)
    code, reason, message = await refusal(
        client, "POST", MAPS.format(namespace=name), a_config_map("one")
    )
    assert (code, reason) == (403, "Forbidden")
    assert message == (
        f'configmaps "one" is forbidden: unable to create new content in namespace {name} because it '
        "is being terminated"
    )
    path = f"/api/v1/namespaces/{name}"
    await client.raw("PATCH", path, {"metadata": {"finalizers": None}}, content_type=MERGE)


async def test_a_form_that_is_not_offered_is_refused(client: Client, namespace: str) -> None:
    path = MAPS.format(namespace=namespace)
    for accept in ("text/plain", "application/xml"):
        with pytest.raises(ApiError) as caught:
            await client.raw("GET", path, accept=accept)
        assert caught.value.status.code == 406
        assert caught.value.status.reason == "NotAcceptable"
