"""Schemas, held against a real server: the same objects refused, in the same words."""

import asyncio
from collections.abc import Callable
from copy import deepcopy
from itertools import count
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.conftest import Server, config_of
from tests.contract.gauges import API_VERSION, GAUGE_CRD, GROUP, RULER_CRD, SCHEMA, crd
from tests.contract.pure_server import PureServer, Refusal
from tests.contract.rule_cases import MISTAKEN_RULES, RULES_THAT_ARE_FINE, ruled
from tests.contract.twins import Object, refused

from clusterup.pytest_plugin import session_loop
from kubevirt.apiserver.schema import authoring
from kubevirt.apiserver.schema.decoding import decode, duplicate_fields, strict_error
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, NoSuchResource

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_numbers = count()


@pytest.fixture(autouse=True, scope="session")
def _kinds_are_known(server: Server) -> None:
    with session_loop() as loop:
        loop.run(_define(server))


async def _define(server: Server) -> None:
    async with Client(config_of(server.kubeconfig)) as client:
        for definition in (GAUGE_CRD, RULER_CRD):
            await client.raw("POST", CRDS, definition)
            plural = definition["spec"]["names"]["plural"]
            async with asyncio.timeout(120):
                await _wait_until_served(client, f"/apis/{GROUP}/v1/{plural}")


async def _wait_until_served(client: Client, path: str) -> None:
    while True:
        try:
            await client.raw("GET", path)
        except NoSuchResource:
            await asyncio.sleep(0.05)
        else:
            return


class Both:
    """An object of one kind on both servers. Only refusals are compared: what they keep is
    compared elsewhere.
    """

    def __init__(self, client: Client, definition: Object) -> None:
        names = definition["spec"]["names"]
        self._client = client
        self._kind: str = names["kind"]
        self._path = f"/apis/{GROUP}/v1/namespaces/default/{names['plural']}"
        self._pure = PureServer(definition)
        self.name = f"{names['singular']}-{next(_numbers)}"

    async def create(self, spec: Any, **parts: Any) -> Object:
        metadata = {"name": self.name, "namespace": "default", **parts.pop("metadata", {})}
        body = {"apiVersion": API_VERSION, "kind": self._kind, "metadata": metadata, **parts}
        if spec is not None:
            body["spec"] = spec
        return await self._compare("POST", self._path, body, "")

    async def update(self, change: Callable[[Object], object], subresource: str = "") -> Object:
        path = f"{self._path}/{self.name}" + (f"/{subresource}" if subresource else "")
        live = msgspec.json.decode(await self._client.raw("GET", path))
        change(live)
        return await self._compare("PUT", path, live, subresource)

    async def _compare(self, method: str, path: str, body: Object, subresource: str) -> Object:
        pure = deepcopy(body)
        if method == "PUT":
            pure["metadata"] = {**pure["metadata"], "uid": "1", "resourceVersion": "1"}
            for name in ("creationTimestamp", "generation", "managedFields"):
                pure["metadata"].pop(name, None)
        expected = await self._asked(method, path, body)
        try:
            self._pure.write(
                pure, by="x", api_version=API_VERSION, subresource=subresource, strict=True
            )
            found = {}
        except Refusal as refusal:
            found = refused(refusal.message, refusal.causes)
        assert found == expected, f"\nfound    {found}\nexpected {expected}"
        return found

    async def _asked(self, method: str, path: str, body: Object) -> Object:
        try:
            await self._client.raw(method, path, body, params={"fieldValidation": "Strict"})
        except ApiError as error:
            causes = {(cause.reason, cause.field, cause.message) for cause in error.causes}
            return refused(error.status.message, causes)
        return {}


@pytest.fixture
def gauge(client: Client) -> Both:
    return Both(client, GAUGE_CRD)


@pytest.fixture
def ruler(client: Client) -> Both:
    return Both(client, RULER_CRD)


GUEST = {"apiVersion": "v1", "kind": "Guest"}


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"unit": 5},
        {"unit": None},
        {"unit": "m", "whole": 0},
        {"unit": "m", "whole": 11, "above": 1, "below": 1.5, "tiny": 0.000001},
        {"unit": "m", "whole": 1.5, "above": 4, "below": 0.7},
        {"unit": "m", "whole": 1.0, "above": 6, "below": -2.5},
        {"unit": "m", "whole": "1", "flag": "true", "short": 1, "few": {}, "pairs": [], "some": 1},
        {"unit": "m", "whole": True, "flag": 1, "short": True},
        {"unit": "m", "short": "a"},
        {"unit": "m", "short": "abcde", "code": "A1"},
        {"unit": "m", "short": "äöü", "code": "a-1"},
        {"unit": "m", "code": "a-1\n"},
        {"unit": "m", "code": "a-\u0663"},
        {"unit": "m", "colour": "blue", "level": 3},
        {"unit": "m", "colour": 'a"b\\c\n', "level": "1"},
        {"unit": "m", "either": True, "percent": 1.5},
        {"unit": "m", "either": 1.5},
        {"unit": "m", "percent": "x"},
        {"unit": "m", "percent": "5%", "either": "x"},
        {"unit": "m", "maybe": None},
        {"unit": "m", "maybe": "b"},
        {"unit": "m", "few": []},
        {"unit": "m", "few": ["a", 1, "c"]},
        {"unit": "m", "few": [None]},
        {"unit": "m", "pairs": {"a": 1, "b": "x", "c": None}},
        {"unit": "m", "some": {}},
        {"unit": "m", "set": ["a", "b", "a", "a", "b"]},
        {"unit": "m", "numbers": [1, 2, 1, 1.5, 1.5]},
        {"unit": "m", "named": [{"name": "a"}, {"name": "a", "size": 0}, {"size": 1}]},
        {"unit": "m", "named": [{"name": "a", "tags": ["x", "x"]}, "b"]},
        {"unit": "m", "ports": [{"port": 1, "protocol": "T"}, {"port": 1, "protocol": "T"}]},
        {"unit": "m", "ports": [{"port": 1}, {"port": 1}, {}]},
        {"unit": "m", "sets": {"x": ["a", "a"]}},
        {"unit": "m", "one": {}},
        {"unit": "m", "one": {"a": "x", "b": "y"}},
        {"unit": "m", "one": {"a": 1}},
        {"unit": "m", "any": {}},
        {"unit": "m", "any": {"a": 1}},
        {"unit": "m", "any": {"b": 9}},
        {"unit": "m", "any": {"a": 1, "b": 9}},
        {"unit": "m", "any": {"a": "x", "b": 1}},
        {"unit": "m", "all": "b"},
        {"unit": "m", "all": "bcd"},
        {"unit": "m", "all": "abc"},
        {"unit": "m", "all": "ab"},
        {"unit": "m", "guest": {}},
        {"unit": "m", "guest": {"apiVersion": "", "kind": "no_kind", "metadata": {"name": "a/b"}}},
        {
            "unit": "m",
            "guest": {"apiVersion": "a/b/c", "kind": "K", "metadata": {"labels": {"a": 1}}},
        },
        {"unit": "m", "guest": {**GUEST, "metadata": {"labels": {"a b": "c"}, "namespace": "N"}}},
        {
            "unit": "m",
            "guest": {**GUEST, "metadata": {"unknown": 1, "name": "ok"}, "more": {"x": 1}},
        },
        {"unit": "m", "guest": {"apiVersion": 1, "kind": "K"}},
        {"unit": "m", "guest": {**GUEST, "kind": "", "metadata": []}},
        {"unit": "m", "guest": {**GUEST, "metadata": {"finalizers": ["a"], "generateName": "a/"}}},
        {"unit": "m", "unknown": 1, "named": [{"name": "a", "other": {"deep": 1}}]},
        [1],
        "text",
        None,
    ],
    ids=str,
)
async def test_values_that_break_a_condition(gauge: Both, spec: Any) -> None:
    await gauge.create(spec)


_odd = st.sampled_from(
    [None, True, 0, 1, 3, 7, 1.5, "", "a", "ab", "x" * 9, [], ["a"], {}, {"a": 1}]
)
_named = st.lists(
    st.fixed_dictionaries(
        {}, optional={"name": _odd, "size": _odd, "tags": st.lists(_odd, max_size=3)}
    )
    | _odd,
    max_size=3,
)
_specs = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("unit", "whole", "above", "below", "short", "code", "colour"), _odd),
        **dict.fromkeys(("level", "flag", "either", "percent", "maybe", "all", "guest"), _odd),
        **dict.fromkeys(("few", "set", "numbers"), st.lists(_odd, max_size=4) | _odd),
        **dict.fromkeys(
            ("pairs", "some", "one", "any", "sets"),
            st.dictionaries(st.sampled_from("ab"), _odd, max_size=2) | _odd,
        ),
        "named": _named | _odd,
        "ports": st.lists(st.fixed_dictionaries({}, optional={"port": _odd}), max_size=3),
    },
)


@given(spec=_specs)
@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
async def test_any_values(client: Client, spec: Object) -> None:
    await Both(client, GAUGE_CRD).create(spec)


FORMATS: dict[str, list[str]] = {
    "date": ["2020-02-29", "2021-02-29", "20-1-1", "2020-01-01T00:00:00Z", ""],
    "datetime": [
        *("2020-01-01T00:00:00Z", "2020-01-01t00:00:00.123z", "2020-01-01T00:00:00+01:00"),
        *("2020-01-01 00:00:00Z", "2020-01-01T25:00:00Z", "2020-01-01T00:00:00", "now", ""),
    ],
    "duration": ["1h", "1.5h2m", "5 days", "3 weeks", "-1h", "1", "0", "later", "10 ms", "1µs", ""],
    "email": ["a@b.c", "A <a@b.c>", "a@b", "a", "@b", "a@", "a b@c.d", ""],
    "hostname": ["a", "a.bc", "a.b", "-a", "a_b", "a..b", "1.com", "a" * 64, "ä.com", ""],
    "ipv4": ["1.2.3.4", "01.2.3.4", "1.2.3", "::1", "256.1.1.1", ""],
    "ipv6": ["::1", "1.2.3.4", "::ffff:1.2.3.4", "fe80::1%eth0", "1::2::3", ""],
    "cidr": ["10.0.0.0/8", "10.0.0.1/8", "10.0.0.0", "::/0", "10.0.0.0/33", ""],
    "mac": ["01:23:45:67:89:ab", "01-23-45-67-89-ab", "0123.4567.89ab", "01:23:45:67:89", "x", ""],
    "uri": ["http://a.b/c?d#e", "/a/b", "a", "a:b", "http://a b", "http://[::1", "%zz", "//a", ""],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000", "x", ""],
    "uuid4": ["123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"],
    "byte": ["aGk=", "aGk", "a b=", "====", "YQ==", "äö"],
    "hexcolor": ["#fff", "ffffff", "#ffff", "red"],
    "rgbcolor": ["rgb(1,2,3)", "rgb(256,1,1)", "rgb( 1 , 2 , 3 )", "rgb(1,2)"],
    "ssn": ["123-45-6789", "123456789", "12-345-6789"],
    "isbn": ["0321751043", "978-0321751041", "0321751044", "978-0321751042", "x"],
    "creditcard": ["4111 1111 1111 1111", "4111111111111112", "x"],
    "bsonobjectid": ["507f1f77bcf86cd799439011", "507f1f77bcf86cd79943901", "x" * 24],
    "k8sshortname": ["a", "a-b", "a.b", "A", "-a", "a" * 64, ""],
    "k8slongname": ["a.b", "a..b", "A.b", "a" * 254, "a" * 64 + ".b", ""],
    "unheardof": ["anything"],
}


@pytest.mark.parametrize(
    ("field", "text"),
    [(field, text) for field, texts in FORMATS.items() for text in texts],
)
async def test_formats(gauge: Both, field: str, text: str) -> None:
    await gauge.create({"unit": "m", field: text})


OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "1"}


@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {"a": 1}},
        {"labels": [1]},
        {"labels": {"a": None}},
        {"labels": None, "annotations": {}},
        {"labels": {"a": {"b": 1}}},
        {"labels": {"a b": "c", "-": "d", "x/y/z": "", "/a": "", "A.B/c": "", "a" * 64: ""}},
        {"labels": {"a": "b c", "b": "c" * 64, "c": "-"}},
        {"annotations": {"a b": "", "X/Y": "", "_": ""}},
        {"annotations": {"big": "x" * 262145}},
        {"finalizers": "x"},
        {"finalizers": [1]},
        {"finalizers": ["a", None]},
        {"finalizers": ["x y", "orphan", "foregroundDeletion"]},
        {"ownerReferences": [{"apiVersion": "v1"}]},
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "x", "uid": "1"}]},
        {"ownerReferences": [{"controller": "x"}]},
        {"ownerReferences": [1]},
        {"ownerReferences": [{"apiVersion": "a/", "kind": "K", "name": "n", "uid": "u", "x": 1}]},
        {
            "ownerReferences": [
                {**OWNER, "controller": True},
                {**OWNER, "uid": "2", "controller": True},
            ]
        },
        {"ownerReferences": [None], "finalizers": None},
        {"generation": "x"},
        {"generation": 1.5},
        {"creationTimestamp": "yesterday"},
        {"creationTimestamp": None},
        {"creationTimestamp": 1},
        {"managedFields": [{"foo": 1}]},
        {"deletionGracePeriodSeconds": True},
        {"unknown": 1, "Labels": {}},
        {"name": 5},
        {"name": "A_b"},
        {"name": "a" * 254},
        {"name": "a..b"},
    ],
    ids=lambda value: str(value)[:80],
)
async def test_metadata_that_breaks_a_condition(gauge: Both, metadata: Any) -> None:
    await gauge.create({"unit": "m"}, metadata=metadata)


async def test_what_was_wrong_and_did_not_change_may_stay(client: Client) -> None:
    """The schema becomes stricter after the object was made."""
    loose = deepcopy(SCHEMA)
    spec = loose["properties"]["spec"]
    spec["required"] = []
    spec["properties"]["whole"].pop("maximum")
    spec["properties"]["few"].pop("maxItems")
    named = spec["properties"]["named"]["items"]["properties"]["size"]
    named.pop("minimum")
    definition = crd("looses", "Loose", loose)
    await client.raw("POST", CRDS, definition)
    async with asyncio.timeout(120):
        await _wait_until_served(client, f"/apis/{GROUP}/v1/looses")
    both = Both(client, definition)
    units = [{"name": "a", "size": 0}, {"name": "b", "size": 1}]
    assert await both.create({"whole": 50, "few": ["a", "b", "c"], "named": units}) == {}
    await _become_strict(client, both, definition)
    await both.update(lambda it: it["spec"].update(short="abc"))
    await both.update(lambda it: it["spec"].update(whole=60))
    await both.update(lambda it: it["spec"]["few"].append("d"))
    await both.update(lambda it: it["spec"]["named"][1].update(size=-1))
    await both.update(lambda it: it["spec"]["named"].reverse())
    await both.update(lambda it: it["spec"]["named"].pop())


async def _become_strict(client: Client, both: Both, definition: Object) -> None:
    path = f"{CRDS}/{definition['metadata']['name']}"
    strict = {"spec": deepcopy(definition["spec"])}
    schema = deepcopy(SCHEMA)
    schema["properties"]["spec"]["required"] = []
    strict["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    await client.raw("PATCH", path, strict, content_type="application/merge-patch+json")
    pure = PureServer({**definition, "spec": strict["spec"]})
    pure.live = both._pure.live
    both._pure = pure
    probe = {"apiVersion": API_VERSION, "kind": "Loose", "metadata": {"name": "probe"}}
    async with asyncio.timeout(120):
        while True:
            try:
                await client.raw(
                    "POST",
                    f"/apis/{GROUP}/v1/namespaces/default/looses",
                    {**probe, "spec": {"whole": 50}},
                    params={"dryRun": "All"},
                )
            except ApiError:
                return
            await asyncio.sleep(0.05)


async def test_the_status_has_conditions_of_its_own(gauge: Both) -> None:
    await gauge.create({"unit": "m"})
    await gauge.update(lambda it: it.update(status={}), "status")
    await gauge.update(lambda it: it.update(status={"phase": "Half"}), "status")
    await gauge.update(lambda it: it.update(status={"phase": 1, "named": [{}]}), "status")
    twins = [{"name": "a"}, {"name": "a"}]
    await gauge.update(lambda it: it.update(status={"phase": "On", "named": twins}), "status")
    await gauge.update(lambda it: it.update(status={"phase": "On"}, spec={}), "status")
    await gauge.update(lambda it: it["spec"].update(whole=11))


@pytest.mark.parametrize(
    "spec",
    [
        {},
        None,
        {"low": 2, "high": 1},
        {"low": -1},
        {"low": -9},
        {"low": 13, "names": ["a"]},
        {"low": 14},
        {"high": 1000},
        {"low": "x"},
        {"names": ["long enough", "ok", "too long too"]},
        {"names": ["abcd", "abcde"]},
        {"named": [{"name": "a", "size": 100}, {"name": "b", "size": 1}]},
        {"limits": {"cpu": "1", "memory": "lots", "a.b": "1Gi"}},
        {"address": "::1"},
        {"address": "10.0.0.1", "memory": "1Ki", "url": "http://x"},
        {"memory": "2Mi", "url": "https://x"},
        {"sorted": [2, 1]},
        {"sorted": [1, 2, 3, 4]},
        {"sorted": []},
        {"text": "Abc"},
        {"text": "a,,b"},
        {"text": "a1"},
        {"letters": "a" * 40 + "!"},
        {"letters": "aaa"},
        {"letters": "üb"},
        {"letters": "b\n"},
        {"letters": "xyöy"},
        {"letters": "öyxy"},
        {"letters": "mnzzop"},
        {"letters": "mnzzopq"},
        {"letters": "c\n"},
        {"letters": "c"},
        {"letters": "haus"},
        {"a-b": "bad"},
        {"fixed": "x", "choice": 1},
    ],
    ids=str,
)
async def test_values_that_break_a_rule(ruler: Both, spec: Any) -> None:
    await ruler.create(spec)


async def test_rules_about_changes(ruler: Both) -> None:
    units = [{"name": "a", "size": 5}, {"name": "b", "size": 5}]
    await ruler.create({"fixed": "x", "high": 5, "named": units})
    await ruler.update(lambda it: it["spec"].update(fixed="y"))
    await ruler.update(lambda it: it["spec"].pop("high"))
    await ruler.update(lambda it: it["spec"].update(high=5000))
    await ruler.update(lambda it: it["spec"]["named"][0].update(size=4))
    await ruler.update(lambda it: it["spec"]["named"].reverse())
    await ruler.update(lambda it: it["spec"]["named"].insert(0, {"name": "c", "size": 1}))
    await ruler.update(lambda it: it["spec"].pop("fixed"))
    await ruler.update(lambda it: it["spec"].update(fixed="anything"))


@pytest.mark.parametrize(
    "body",
    [
        '{"spec":{"unit":"m","unit":"n","whole":1,"whole":2}}',
        '{"spec":{"unit":"m"},"spec":{"unit":"n"}}',
        '{"spec":{"unit":"m","named":[{"name":"a","name":"b"},{"name":"c"}]}}',
        '{"spec" : {"unit" : "m" , "unit"\n: "n"}}',
        '{"spec":{"unit":"a\\":b","some":{"x\\\\":1,"x\\\\":2}}}',
        '{"spec":{"unit":"{\\"a\\":1}","some":{"a":{"b":1},"c":{"b":1}}}}',
    ],
)
async def test_fields_that_are_there_twice_are_named(client: Client, body: str) -> None:
    head = f'{{"apiVersion":"{API_VERSION}","kind":"Gauge","metadata":{{"name":"twice"}},'
    text = (head + body[1:]).encode()
    expected = ""
    try:
        await client.raw(
            "POST",
            f"/apis/{GROUP}/v1/namespaces/default/gauges",
            msgspec.Raw(text),
            params={"fieldValidation": "Strict", "dryRun": "All"},
        )
    except ApiError as error:
        expected = error.status.message
    words = strict_error(duplicate_fields(text, decode(text)), ())
    found = f'Gauge in version "v1" cannot be handled as a Gauge: {words}' if words else ""
    assert found == expected


_STRING = {"type": "string"}


def _object(**properties: Any) -> Object:
    return {"type": "object", "properties": properties}


def _list(items: Any, **more: Any) -> Object:
    extensions = {f"x-kubernetes-{name.replace('_', '-')}": value for name, value in more.items()}
    return {"type": "array", "items": items, **extensions}


@pytest.mark.parametrize(
    "schema",
    [
        _object(spec={}),
        _object(spec={"type": "array"}),
        _object(spec=_list({})),
        {"type": "string"},
        {},
        {"type": "object", "additionalProperties": _STRING},
        _object(spec={"type": "null"}),
        _object(spec={"type": "text"}),
        _object(spec={"type": "object", "anyOf": [{"type": "object"}, {"properties": {"a": {}}}]}),
        _object(
            spec={**_object(a=_STRING), "allOf": [{"properties": {"a": {"description": "x"}}}]}
        ),
        _object(spec={**_object(a=_STRING), "not": {"properties": {"b": {"enum": ["x"]}}}}),
        _object(spec={**_object(a=_STRING), "oneOf": [{"nullable": True, "default": {}}]}),
        _object(metadata={"type": "object", "properties": {"labels": {"type": "object"}}}),
        _object(metadata={"type": "object", "properties": {"name": {**_STRING, "pattern": "a"}}}),
        _object(metadata={"type": "string"}, kind={"type": "integer"}),
        _object(spec={"x-kubernetes-embedded-resource": True}),
        _object(spec={"type": "object", "x-kubernetes-embedded-resource": True}),
        _object(
            spec={
                "x-kubernetes-int-or-string": True,
                "x-kubernetes-preserve-unknown-fields": True,
            }
        ),
        _object(spec={"type": "object", "x-kubernetes-preserve-unknown-fields": False}),
        _object(spec={**_object(a=_STRING), "additionalProperties": _STRING}),
        _object(spec={**_list(_STRING), "uniqueItems": True}),
        _object(spec={"type": "string", "x-kubernetes-list-type": "set"}),
        _object(spec=_list(_STRING, list_type="bag")),
        _object(spec=_list(_STRING, list_type="map")),
        _object(spec=_list(_STRING, list_map_keys=["a"])),
        _object(spec=_list(_STRING, list_type="set", list_map_keys=["a"])),
        _object(spec=_list(_object(a=_STRING), list_type="map", list_map_keys=["a", "b", "a"])),
        _object(spec=_list(_object(a=_object(b=_STRING)), list_type="map", list_map_keys=["a"])),
        _object(spec=_list(_object(a=_STRING), list_type="set")),
        _object(spec=_list({**_STRING, "nullable": True}, list_type="set")),
        _object(spec={**_STRING, "x-kubernetes-map-type": "atomic"}),
        _object(spec={**_object(a=_STRING), "x-kubernetes-map-type": "loose"}),
        _object(spec={**_STRING, "default": 5}),
        _object(spec={**_object(a=_STRING), "default": {"b": 1}}),
        _object(spec={**_object(a={**_STRING, "enum": ["x"]}), "default": {"a": "y"}}),
        _object(metadata={"type": "object", "default": {}}),
        _object(spec={**_STRING, "x-kubernetes-validations": [{"rule": ""}]}),
        _object(spec={**_STRING, "x-kubernetes-validations": [{"rule": "true", "message": " "}]}),
        _object(
            spec={**_STRING, "x-kubernetes-validations": [{"rule": "true", "reason": "Because"}]}
        ),
        _object(spec={**_STRING, "x-kubernetes-validations": [{"rule": "self.x("}]}),
        _object(spec={**_STRING, "x-kubernetes-validations": [{"rule": "nobody == self"}]}),
        {**_object(spec=_STRING), "nullable": True},
        {**_object(spec=_list(_STRING)), "anyOf": [{"properties": {"other": {"minLength": 1}}}]},
        {**_object(spec=_STRING), "allOf": [{"properties": {"spec": {"items": {"minLength": 1}}}}]},
        {
            **_object(spec=_list(_STRING)),
            "not": {"properties": {"spec": {"items": {"enum": ["x"]}}}},
        },
        {**_object(spec=_STRING), "oneOf": [{"properties": {"metadata": {"required": ["x"]}}}]},
        _object(
            spec={**_STRING, "x-kubernetes-validations": [{"rule": "true", "message": "a\nb"}]}
        ),
        _object(spec={**_STRING, "x-kubernetes-validations": [{"rule": "true ||\nfalse"}]}),
        _object(
            spec={
                "type": "object",
                "x-kubernetes-embedded-resource": True,
                "x-kubernetes-preserve-unknown-fields": True,
                "additionalProperties": _STRING,
            }
        ),
        _object(spec={**_STRING, "$ref": "#/x"}),
        _object(spec=_list(_list(_STRING, list_type="set"), list_type="set")),
        _object(spec=_list({**_object(a=_STRING), "required": ["a"]}, list_type="map")),
        _object(spec=_STRING),
        *(_object(spec=ruled(each)) for each in MISTAKEN_RULES),
        *(_object(spec=ruled({"rule": each})) for each in RULES_THAT_ARE_FINE),
        _object(
            spec={
                "type": "array",
                "maxItems": 3,
                "items": {
                    "type": "boolean",
                    "x-kubernetes-validations": [{"rule": "oldSelf == self"}],
                },
            }
        ),
        _object(spec={"type": "integer", "x-kubernetes-validations": [{"rule": "self == 'a'"}]}),
        _object(spec={"type": "integer", "x-kubernetes-validations": [{"rule": "self"}]}),
        _object(spec={"type": "boolean", "x-kubernetes-validations": [{"rule": "self"}]}),
        {
            **_object(spec=_STRING),
            "x-kubernetes-validations": [
                {"rule": "self.metadata.name == self.kind && has(self.spec)"}
            ],
        },
        {
            **_object(spec=_STRING),
            "x-kubernetes-validations": [{"rule": "self.metadata.name == self.specs"}],
        },
        SCHEMA,
    ],
    ids=lambda value: str(value)[:100],
)
async def test_schemas_that_are_none(client: Client, schema: Object) -> None:
    definition = crd("nones", "None", schema)
    definition["spec"]["versions"][0].pop("subresources")
    expected = set()
    try:
        await client.raw("POST", CRDS, definition, params={"dryRun": "All"})
    except ApiError as error:
        expected = {(cause.reason, cause.field, cause.message) for cause in error.causes}
    found = authoring.errors(schema, "spec.validation.openAPIV3Schema")
    assert {(str(each.reason), each.field, each.message) for each in found} == expected
