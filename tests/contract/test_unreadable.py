"""Bodies that cannot be read, or only in part: where the reader gave up, in its own words."""

import gzip
from typing import Any

import msgspec
import pytest
from tests.contract.lamps import CONFIG_MAPS, a_config_map

from kubevirt.api.resource import Resource
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError
from kubevirt.kube.http.warnings import Warnings

MAPS = "/api/v1/namespaces/{namespace}/configmaps"
LAMPS = "/apis/house.example/v1/namespaces/{namespace}/lamps"
JSON, YAML = "application/json", "application/yaml"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

UNRECOGNIZED = "the object provided is unrecognized (must be of type ConfigMap): "
NO_JSON = f"{UNRECOGNIZED}couldn't get version/kind; json parse error: "
NO_CONFIGURATION = "error decoding YAML: error converting YAML to JSON: "
DEEP = 10_001
"""More than Go follows; the embedded server gives up earlier, in the same words."""


async def refusal(
    client: Client, method: str, path: str, body: bytes, type_: str, **params: str
) -> tuple[int, str, str]:
    raw = msgspec.Raw(body)
    with pytest.raises(ApiError) as caught:
        await client.raw(method, path, raw, params=params, content_type=type_)
    status = caught.value.status
    return status.code, status.reason, status.message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "unexpected end of JSON input (<empty>)"),
        (b"hello", "invalid character 'h' looking for beginning of value (68656c6c6f)"),
        (b"\xff\xfe", "invalid character 'ÿ' looking for beginning of value (fffe)"),
        (b'{"a":1', 'unexpected end of JSON input ({"a":1)'),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b"{'a':1}", "invalid character '\\'' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key ("),
        (b'{"a":1 "b":2}', "invalid character '\"' after object key:value pair ("),
        (b'{"a":[1 2]}', "invalid character '2' after array element ("),
        (b'{"a":[1,]}', "invalid character ']' looking for beginning of value ("),
        (b'{"a":"\x01"}', "invalid character '\\x01' in string literal ("),
        (b'{"a":"\\x"}', "invalid character 'x' in string escape code ("),
        (b'{"a":nul}', "invalid character '}' in literal null (expecting 'l') ("),
        (b"{} x", "invalid character 'x' after top-level value ({} x)"),
        (b'{"a":' * DEEP, "invalid character '{' exceeded max depth ("),
        (b'{"a":' + b"[" * DEEP, "invalid character '[' exceeded max depth ("),
        (gzip.compress(b"{}", mtime=0), "invalid character '\\x1f' looking for beginning of"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_what_is_no_json(client: Client, namespace: str, body: bytes, words: str) -> None:
    code, reason, message = await refusal(
        client, "POST", MAPS.format(namespace=namespace), body, JSON
    )
    assert (code, reason) == (400, "BadRequest")
    assert message.startswith(NO_JSON + words)


async def test_only_the_beginning_of_a_body_is_shown(client: Client, namespace: str) -> None:
    path = MAPS.format(namespace=namespace)
    _, _, message = await refusal(client, "POST", path, b'{"metadata":{"name":"a-long-name', JSON)
    assert message.endswith('({"metadata":{"name":"a-long-na ...)')
    _, _, message = await refusal(client, "POST", path, b"x" * 31, JSON)
    assert message.endswith(f"({'78' * 30} ...)")


BOMB = "\n".join(
    [
        "a0: &a0 [x, x, x, x, x, x, x, x, x, x]",
        *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)),
    ]
).encode()
BAD_YAML = [
    (b"a: [", "yaml: line 1: did not find expected node content"),
    (b"\tx: 1", "yaml: found character that cannot start any token"),
    (b"a: b\nc: d: e\n", "yaml: line 2: mapping values are not allowed in this context"),
    (b"a: 'b\nc\n", "yaml: line 3: found unexpected end of stream"),
    (b"\x00", "yaml: control characters are not allowed"),
    (b"a: *b", "yaml: unknown anchor 'b' referenced"),
    (b"a: &a [*a]", "yaml: anchor 'a' value contains itself"),
    (b"? [a]\n: b", 'yaml: invalid map key: []interface {}{"a"}'),
    (b"a: .inf", "json: unsupported value: +Inf"),
    (b"a: !!binary '!!!'", "yaml: !!binary value contains invalid base64 data"),
    (b"[" * (DEEP + 1000), "yaml: exceeded max depth of "),
    (BOMB, "yaml: document contains excessive aliasing"),
]


@pytest.mark.parametrize(("body", "words"), BAD_YAML, ids=lambda value: str(value)[:40])
async def test_what_is_no_yaml(client: Client, namespace: str, body: bytes, words: str) -> None:
    path = MAPS.format(namespace=namespace)
    code, reason, message = await refusal(client, "POST", path, body, YAML)
    assert (code, reason) == (400, "BadRequest")
    assert message.startswith(UNRECOGNIZED + words)
    code, reason, message = await refusal(
        client, "PATCH", f"{path}/one", body, APPLY, fieldManager="me"
    )
    assert (code, reason) == (400, "BadRequest")
    assert message.startswith(NO_CONFIGURATION + words)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "unexpected end of JSON input"),
        (b"hello", "invalid character 'h' looking for beginning of value"),
        (b'{"a":', "unexpected end of JSON input"),
        (b'{"a":"b",}', "invalid character '}' looking for beginning of object key string"),
        (b"{} x", "invalid character 'x' after top-level value"),
        (b'{"a":' * DEEP, "invalid character '{' exceeded max depth"),
        (b'"x"', "json: cannot unmarshal string into Go value of type "),
        (b"1", "json: cannot unmarshal number into Go value of type "),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_what_is_no_patch(client: Client, namespace: str, body: bytes, words: str) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace)
    path = MAPS.format(namespace=namespace) + "/one"
    for type_ in (MERGE, JSON_PATCH, STRATEGIC):
        prefix = "" if type_ == STRATEGIC else "error decoding patch: "
        code, reason, message = await refusal(client, "PATCH", path, body, type_)
        assert (code, reason) == (400, "BadRequest")
        assert message.startswith(prefix + words)


async def test_a_patch_of_nothing(client: Client, namespace: str) -> None:
    made = await client.create(CONFIG_MAPS, a_config_map("one"), namespace)
    path = MAPS.format(namespace=namespace) + "/one"
    found = await refusal(client, "PATCH", path, b"null", MERGE)
    assert found == (400, "BadRequest", "Invalid JSON Patch")
    for type_ in (JSON_PATCH, STRATEGIC):
        answer = await client.raw("PATCH", path, msgspec.Raw(b"null"), content_type=type_)
        version = msgspec.json.decode(answer)["metadata"]["resourceVersion"]
        assert version == made["metadata"]["resourceVersion"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"abc", "json: cannot unmarshal string into Go value of type map[string]interface {}"),
        (b"[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
    ],
    ids=str,
)
async def test_a_configuration_that_is_no_object(
    client: Client, namespace: str, body: bytes, words: str
) -> None:
    path = MAPS.format(namespace=namespace) + "/one"
    found = await refusal(client, "PATCH", path, body, APPLY, fieldManager="me")
    words = f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {words}"
    assert found == (400, "BadRequest", words)


TWICE = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  a: b\n  a: c\ndata:\n  e: f\n"
TWICE_LINES = '\n  line 7: key "a" already set in map\n  line 9: key "data" already set in map'


async def test_keys_that_are_there_twice_in_yaml(client: Client, namespace: str) -> None:
    path = MAPS.format(namespace=namespace)
    strict = {"fieldValidation": "Strict"}
    found = await refusal(client, "POST", path, TWICE, YAML, **strict)
    words = f"strict decoding error: yaml: unmarshal errors:{TWICE_LINES}"
    assert found[2] == f'ConfigMap in version "v1" cannot be handled as a ConfigMap: {words}'
    found = await refusal(client, "PATCH", f"{path}/one", TWICE, APPLY, fieldManager="me", **strict)
    prefix = "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:"
    assert found[2] == prefix + TWICE_LINES
    # JSON is YAML, too.
    body = b'{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"b","a":"c"}}'
    found = await refusal(client, "PATCH", f"{path}/one", body, APPLY, fieldManager="me", **strict)
    assert found[2] == f'{prefix}\n  line 1: key "a" already set in map'


async def test_the_last_of_two_keys_counts_and_each_is_warned_of(
    client: Client, namespace: str
) -> None:
    heard = Warnings()
    path = MAPS.format(namespace=namespace)
    raw = msgspec.Raw(TWICE)
    answer = await client.heard_by(heard).raw("POST", path, raw, content_type=YAML)
    assert msgspec.json.decode(answer)["data"] == {"e": "f"}
    assert list(heard) == [line.strip() for line in TWICE_LINES.strip().splitlines()]


async def test_unknown_fields_and_keys_that_are_there_twice_are_told_together(
    client: Client, namespace: str, lamps: Resource[dict[str, Any]]
) -> None:
    body = b"apiVersion: house.example/v1\nkind: Lamp\nmetadata: {name: a}\nspec:\n  watts: 1\n  watts: 2\nx: 1\n"
    path = LAMPS.format(namespace=namespace)
    found = await refusal(client, "POST", path, body, YAML, fieldValidation="Strict")
    words = 'yaml: unmarshal errors:\n  line 6: key "watts" already set in map, unknown field "x"'
    assert found[2] == (
        f'Lamp in version "v1" cannot be handled as a Lamp: strict decoding error: {words}'
    )


SCALARS = {
    b"1e3": 1000,
    b"1:30": "1:30",
    b"010": 8,
    b"0o10": 8,
    b"08": 8,
    b"0x1f": 31,
    b"-0x1f": -31,
    b"0b11": 3,
    b"0b2": "0b2",
    b"1_000": 1000,
    b".5": 0.5,
    b"1.": 1,
    b"1.5": 1.5,
    b"1e": "1e",
    b"1e400": "1e400",
    b"~": None,
    b"": None,
    b"''": "",
    b"'1'": "1",
    b"y": True,
    b"N": False,
    b"yes": True,
    b"Off": False,
    b"tRue": "tRue",
    b"2001-01-01": "2001-01-01",
    b"!!str 1": "1",
    b"!foo 1": "1",
    b"!!float 1": 1,
    b"!!binary aGk=": "hi",
}
"""What YAML means by a scalar, as Kubernetes' reader has it."""


@pytest.mark.parametrize(("text", "value"), SCALARS.items(), ids=str)
async def test_scalars_of_yaml_mean_what_they_mean_to_go(
    client: Client, namespace: str, text: bytes, value: Any
) -> None:
    """Told by what is no string in a map of strings."""
    path = MAPS.format(namespace=namespace)
    body = b"metadata: {name: one}\ndata: {a: %b}\n" % text
    if value is None or isinstance(value, str):
        answer = await client.raw("POST", path, msgspec.Raw(body), content_type=YAML)
        assert msgspec.json.decode(answer)["data"] == {"a": value or ""}
        return
    code, _, message = await refusal(client, "POST", path, body, YAML)
    kind = "bool" if isinstance(value, bool) else "number"
    assert code == 400
    assert f"cannot unmarshal {kind} into Go struct field ConfigMap.data" in message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"hello", "json parse error: invalid character 'h' looking for beginning of value"),
        (b"[]", "json parse error: json: cannot unmarshal array into Go value of type struct"),
        (b'{"kind":"Pod","apiVersion":"v1"}', 'no kind "Pod" is registered for version "v1" in'),
    ],
    ids=str,
)
async def test_options_of_a_deletion_that_are_none(
    client: Client, namespace: str, body: bytes, words: str
) -> None:
    """Kubernetes takes the blame for these."""
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace)
    path = MAPS.format(namespace=namespace) + "/one"
    code, _, message = await refusal(client, "DELETE", path, body, JSON)
    assert code == 500
    assert words in message


async def test_what_is_no_utf8_in_a_string_is_replaced(client: Client, namespace: str) -> None:
    body = msgspec.Raw(b'{"metadata":{"name":"one"},"data":{"a":"b\xffc"}}')
    answer = await client.raw("POST", MAPS.format(namespace=namespace), body)
    assert msgspec.json.decode(answer)["data"] == {"a": "b\ufffdc"}
