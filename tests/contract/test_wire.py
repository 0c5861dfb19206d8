"""Bodies in protobuf: they mean what the same object means in JSON, and what is none is refused."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from tests import wire_encoder
from tests.contract.lamps import CONFIG_MAPS, a_config_map
from tests.wire_encoder import field, integer, message, text

from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, BadRequest, Conflict, InternalError, NotFound

Object = dict[str, Any]
PROTOBUF = "application/vnd.kubernetes.protobuf"
EVERY_KIND: list[Object] = list(
    yaml.safe_load_all((Path(__file__).parent / "every_kind.yaml").read_text())
)


def _kind(object_: Object) -> Kind:
    group = object_["apiVersion"].rpartition("/")[0]
    return next(
        each
        for each in builtin.kinds()
        if (each.group, each.names.kind) == (group, object_["kind"])
    )


def _path(object_: Object, namespace: str) -> str:
    kind = _kind(object_)
    root = f"/apis/{kind.group}/v1" if kind.group else "/api/v1"
    home = f"/namespaces/{namespace}" if kind.namespaced else ""
    return f"{root}{home}/{kind.names.plural}"


def _encoded(object_: Object) -> msgspec.Raw:
    return msgspec.Raw(wire_encoder.body(object_, _kind(object_).versions[0].type_name))


def _title(object_: Object) -> str:
    return f"{object_['kind']}-{object_.get('metadata', {}).get('name', '')}"


@pytest.mark.parametrize("object_", EVERY_KIND, ids=_title)
async def test_an_object_means_the_same_in_json_and_in_protobuf(
    client: Client, namespace: str, object_: Object
) -> None:
    path = _path(object_, namespace)
    about = object_.get("involvedObject") or object_.get("regarding") or {}
    about["namespace"] = namespace
    answers = [
        await _answer(client, path, object_, "application/json"),
        await _answer(client, path, _encoded(object_), PROTOBUF),
    ]
    assert answers[0] == answers[1]


async def _answer(client: Client, path: str, body: Any, type_: str) -> Object:
    answer = await client.raw("POST", path, body, params={"dryRun": "All"}, content_type=type_)
    made: Object = msgspec.json.decode(answer)
    for name in ("uid", "creationTimestamp", "name"):
        made["metadata"].pop(name, None)
    for entry in made["metadata"].get("managedFields", ()):
        entry.pop("time")
    made.get("status", {}).pop("lastPhaseTransitionTime", None)
    for rules in made.get("status", {}).values():
        if isinstance(rules, list):  # of a review of rules, in no order
            rules.sort(key=str)
    return made


async def test_every_kind_is_tried() -> None:
    tried = {(each["apiVersion"], each["kind"]) for each in EVERY_KIND}
    served = {
        (f"{kind.group}/v1" if kind.group else "v1", kind.names.kind) for kind in builtin.kinds()
    }
    # Of these two more in the tests that use them.
    assert served - tried == {
        ("v1", "Binding"),
        ("authorization.k8s.io/v1", "LocalSubjectAccessReview"),
    }


async def test_an_object_is_replaced(client: Client, namespace: str) -> None:
    made = await client.create(CONFIG_MAPS, a_config_map("one", a="1", b="2"), namespace=namespace)
    changed = {**made, "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "3"}}
    path = f"/api/v1/namespaces/{namespace}/configmaps/one"
    answer = await client.raw("PUT", path, _encoded(changed), content_type=PROTOBUF)
    found = msgspec.json.decode(answer)
    assert found["data"] == {"a": "3"}
    assert found["metadata"]["uid"] == made["metadata"]["uid"]


# Subresources and options


async def test_a_token_is_asked_for(client: Client, namespace: str) -> None:
    inside = message("TokenRequest", {"spec": {"expirationSeconds": 900, "audiences": ["kitchen"]}})
    body = _wrapped("authentication.k8s.io/v1", "TokenRequest", inside)
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default/token"
    spec = msgspec.json.decode(await _post(client, path, body))["spec"]
    assert (spec["audiences"], spec["expirationSeconds"]) == (["kitchen"], 900)


async def test_a_deletion_has_options(client: Client, namespace: str) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    path = f"/api/v1/namespaces/{namespace}/configmaps/one"

    async def delete(**options: Any) -> None:
        body = _wrapped("v1", "DeleteOptions", message("DeleteOptions", options))
        await client.raw("DELETE", path, body, content_type=PROTOBUF)

    with pytest.raises(Conflict, match="the UID in the precondition"):
        await delete(preconditions={"uid": "another"})
    await delete(dryRun=["All"])
    await delete(gracePeriodSeconds=0)
    with pytest.raises(NotFound):
        await delete()


async def test_a_deletion_has_no_other_options(client: Client, namespace: str) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    path = f"/api/v1/namespaces/{namespace}/configmaps/one"
    for body, words in (
        (msgspec.Raw(b"garbage"), "does not appear to be a protobuf message"),
        (_wrapped("v1", "ConfigMap", b""), 'no kind "ConfigMap" is registered for version "v1"'),
    ):
        with pytest.raises(InternalError, match=words):
            await client.raw("DELETE", path, body, content_type=PROTOBUF)


# What is not quite one


def _wrapped(api_version: str, kind: str, inside: bytes) -> msgspec.Raw:
    return msgspec.Raw(b"k8s\0" + field(1, text(1, api_version) + text(2, kind)) + field(2, inside))


async def _post(client: Client, path: str, body: bytes | msgspec.Raw, **params: str) -> bytes:
    return await client.raw("POST", path, msgspec.Raw(body), params=params, content_type=PROTOBUF)


def _config_map(inside: bytes) -> msgspec.Raw:
    return _wrapped("v1", "ConfigMap", inside)


_ONE = message("ConfigMap", {"metadata": {"name": "one"}, "data": {"a": "b"}})
_UNRECOGNIZED = "the object provided is unrecognized (must be of type ConfigMap): "
_NO_MESSAGE = (
    "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
)
_UNHANDLED = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
_SCHEME = 'in scheme "pkg/runtime/scheme.go:110"'
REFUSED: dict[str, tuple[bytes | msgspec.Raw, str]] = {
    "nothing": (b"", f"{_UNRECOGNIZED}empty data (<empty>)"),
    "another language": (b"hello", f"{_UNRECOGNIZED}{_NO_MESSAGE} (68656c6c6f)"),
    "JSON": (b'{"a":1}', f'{_UNRECOGNIZED}{_NO_MESSAGE} ({{"a":1}})'),
    "half of the beginning": (b"k8", f"{_UNRECOGNIZED}{_NO_MESSAGE} (6b38)"),
    "the beginning": (b"k8s\0", f"{_UNRECOGNIZED}empty body (6b387300)"),
    "an envelope cut short": (
        bytes(_config_map(_ONE))[:20],
        f"{_UNRECOGNIZED}unexpected EOF (6b3873000a0f0a0276311209436f6e6669674d61)",
    ),
    "a long envelope cut short": (
        bytes(_config_map(_ONE))[:-10],
        (
            f"{_UNRECOGNIZED}unexpected EOF "
            "(6b3873000a0f0a0276311209436f6e6669674d6170121d0a130a036f6e65 ...)"
        ),
    ),
    "an object cut short": (_config_map(_ONE[:-2]), f"{_UNHANDLED}unexpected EOF"),
    "a group without an end": (_config_map(b"\x93\x03"), f"{_UNHANDLED}unexpected EOF"),
    "a number for metadata": (
        _config_map(integer(1, 5)),
        f"{_UNHANDLED}proto: wrong wireType = 0 for field ObjectMeta",
    ),
    "text for a truth": (
        _config_map(text(4, "yes")),
        f"{_UNHANDLED}proto: wrong wireType = 2 for field Immutable",
    ),
    "another kind": (
        _wrapped("v1", "Secret", b""),
        (
            'Secret in version "v1" cannot be handled as a ConfigMap: '
            "converting (v1.Secret) to (core.ConfigMap): unknown conversion"
        ),
    ),
    "no kind": (
        _wrapped("v1", "Teapot", b""),
        (
            'Teapot in version "v1" cannot be handled as a ConfigMap: '
            f'no kind "Teapot" is registered for version "v1" {_SCHEME}'
        ),
    ),
    "no version": (
        _wrapped("kitchen/v1", "Teapot", b""),
        (
            'Teapot in version "v1" cannot be handled as a ConfigMap: '
            f'no kind "Teapot" is registered for version "kitchen/v1" {_SCHEME}'
        ),
    ),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_what_is_no_object_is_refused(client: Client, namespace: str, what: str) -> None:
    body, words = REFUSED[what]
    with pytest.raises(BadRequest) as caught:
        await _post(client, f"/api/v1/namespaces/{namespace}/configmaps", body)
    assert caught.value.status.message == words


DAMAGED: dict[str, tuple[bytes, str]] = {
    "a form that is none": (
        bytes([1 << 3 | 6, 0]),
        "proto: wrong wireType = 6 for field ObjectMeta",
    ),
    "a form that is none of an unknown field": (b"\x9e\x06\0", "proto: illegal wireType 6"),
    "a number without end": (b"\x98\x06" + b"\xff" * 11, "proto: integer overflow"),
    "a tag without end": (b"\xff" * 11, "proto: integer overflow"),
    "less than nothing": (
        bytes([1 << 3 | 2]) + b"\xff" * 9 + b"\x01",
        "proto: negative length found during unmarshaling",
    ),
    "field zero": (b"\0\0", "proto: ConfigMap: illegal tag 0 (wire type 0)"),
    "the end of no group": (b"\x0c", "proto: ConfigMap: wiretype end group for non-group"),
    "half of a fixed number": (b"\x99\x06abc", "unexpected EOF"),
    "damage further in": (
        field(1, field(13, b"\0\0")),
        "proto: OwnerReference: illegal tag 0 (wire type 0)",
    ),
    "damage in a map": (field(2, b"\x0a\x05a"), "unexpected EOF"),
}


@pytest.mark.parametrize("what", DAMAGED)
async def test_damage_is_a_bad_request(client: Client, namespace: str, what: str) -> None:
    inside, words = DAMAGED[what]
    with pytest.raises(BadRequest) as caught:
        await _post(client, f"/api/v1/namespaces/{namespace}/configmaps", _config_map(inside))
    assert caught.value.status.message == f"{_UNHANDLED}{words}"


@pytest.mark.parametrize(
    ("body", "data"),
    [
        (_config_map(_ONE + text(99, "x") + integer(98, 4)), {"a": "b"}),
        (b"k8s\0" + field(2, _ONE), {"a": "b"}),
        (_config_map(_ONE + field(1, text(2, "one-"))), {"a": "b"}),
        (_config_map(_ONE + field(2, text(1, "a") + field(2, b"\xffc"))), {"a": "\ufffdc"}),
        (_config_map(_ONE + field(2, text(1, "c"))), {"a": "b", "c": ""}),
    ],
    ids=["unknown fields", "no kind", "metadata in parts", "no UTF-8", "a key without a value"],
)
async def test_what_is_unusual_is_taken(
    client: Client, namespace: str, body: bytes | msgspec.Raw, data: Object
) -> None:
    answer = await _post(client, f"/api/v1/namespaces/{namespace}/configmaps", body)
    made = msgspec.json.decode(answer)
    assert (made["metadata"]["name"], made["data"]) == ("one", data)


async def test_a_patch_is_never_protobuf(client: Client, namespace: str) -> None:
    await client.create(CONFIG_MAPS, a_config_map("one"), namespace=namespace)
    path = f"/api/v1/namespaces/{namespace}/configmaps/one"
    with pytest.raises(ApiError) as caught:
        await client.raw("PATCH", path, _config_map(_ONE), content_type=PROTOBUF)
    assert caught.value.status.message == "415: Unsupported Media Type"
