"""Protobuf, bit by bit: what Go writes in its own way, and what nobody should write."""

from typing import Any

import pytest
from tests import wire_encoder
from tests.wire_encoder import field, integer, message, text

from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.wire import complaint, envelope, reader, special
from kubevirt.apiserver.wire.messages import Malformed, Messages
from kubevirt.apiserver.wire.reader import Reader
from kubevirt.apiserver.wire.table import Field, Table


def _read(type_: str, data: bytes) -> dict[str, Any]:
    table = Table(builtin.wire_table() + special.TABLE)
    return Reader(Messages(table)).read(type_, data)


def test_a_table_says_how_a_message_is_made_up() -> None:
    table = Table("Cup\n   1 size   int32!\n  12 parts  [string]\n   3 +      Handle\n")
    assert table.fields("Cup") == (
        Field(1, "size", "int32", "", "!", is_implied=True),
        Field(12, "parts", "string", "["),
        Field(3, "", "Handle", is_implied=True),
    )
    assert "Cup" in table
    assert list(table) == ["Cup"]


def test_a_line_that_is_no_field_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="size int32 is no field"):
        Table("Cup\n   size int32\n").fields("Cup")


@pytest.mark.parametrize(
    ("type_", "data", "meaning"),
    [
        ("time", b"", None),
        ("time", integer(1, 0), "1970-01-01T00:00:00Z"),
        ("time", integer(1, -1) + integer(2, 999_999_999), "1969-12-31T23:59:59Z"),
        ("micro-time", integer(1, 1) + integer(2, 1_999), "1970-01-01T00:00:01.000001Z"),
        ("quantity", b"", "0"),
        ("quantity", text(1, "1Gi"), "1Gi"),
        ("int-or-string", b"", 0),
        ("int-or-string", integer(2, -3), -3),
        ("int-or-string", integer(1, 1) + text(3, "http"), "http"),
        ("raw", b"", None),
        ("raw", text(1, '{"a":[null]}'), {"a": [None]}),
        ("strings", text(1, "a") + text(1, ""), ["a", ""]),
        ("schema-or-bool", integer(1, 1), True),
        ("schema-or-bool", b"", False),
        ("schema-or-array", field(2, text(5, "object")), [{"type": "object"}]),
        ("schema-or-strings", text(2, "a"), ["a"]),
    ],
)
def test_some_messages_are_no_objects(type_: str, data: bytes, meaning: Any) -> None:
    assert special.MEANINGS[type_](_read(type_, data)) == meaning


@pytest.mark.parametrize(
    ("type_", "data", "words"),
    [
        ("time", integer(1, 2**62), "time is out of range"),
        ("int-or-string", integer(1, 2), "impossible IntOrString.Type"),
        ("raw", text(1, "{"), "json: "),
        ("raw", text(1, "[" * 10_000), "json: "),
    ],
)
def test_some_of_them_mean_nothing(type_: str, data: bytes, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        special.MEANINGS[type_](_read(type_, data))


def test_what_is_empty_is_shown_where_go_shows_it() -> None:
    assert _read("Pod", b"") == {"metadata": {}, "spec": {}, "status": {}}
    assert _read("Container", b"") == {"name": "", "resources": {}}
    assert _read("Toleration", integer(5, 0)) == {"tolerationSeconds": 0}
    assert _read("ContainerPort", integer(2, 0) + integer(3, 0)) == {"containerPort": 0}
    assert _read("Volume", text(1, "one")) == {"name": "one"}


def test_a_message_in_parts_is_one() -> None:
    parts = field(1, text(1, "one")) + field(1, text(3, "home"))
    assert _read("ConfigMap", parts)["metadata"] == {"name": "one", "namespace": "home"}


def test_numbers_may_be_packed() -> None:
    assert _read("PodSecurityContext", field(4, b"\x01\x02")) == {"supplementalGroups": [1, 2]}


def test_a_schema_without_end_is_refused() -> None:
    schema = b""
    for _ in range(reader.DEPTH_LIMIT + 1):
        schema = field(28, schema)
    with pytest.raises(Malformed, match="exceeded max depth"):
        _read("JSONSchemaProps", schema)


def test_a_few_bytes_that_mean_millions_are_refused() -> None:
    with pytest.raises(Malformed, match="too many messages"):
        _read("PodSpec", field(2, b"") * (reader.MESSAGES_LIMIT + 1))


def test_a_body_may_leave_its_kind_unsaid() -> None:
    body = envelope.MAGIC + field(2, message("ConfigMap", {"data": {"a": "b"}}))
    found = envelope.read(body, api_version="v1", kind="ConfigMap")
    assert (found["kind"], found["data"]) == ("ConfigMap", {"a": "b"})


def test_of_a_kind_that_nobody_knows_only_the_name_is_read() -> None:
    named = {"apiVersion": "kitchen/v1", "kind": "Teapot"}
    body = envelope.MAGIC + field(1, text(1, "kitchen/v1") + text(2, "Teapot")) + field(2, b"\xff")
    assert envelope.read(body, api_version="v1", kind="ConfigMap") == named


def test_options_of_a_deletion_are_the_same_in_every_group() -> None:
    options = {"apiVersion": "any.example/v3", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
    body = wire_encoder.body(options, "DeleteOptions")
    assert envelope.read(body, api_version="", kind="") == options


def test_groups_in_groups_are_gone_through_without_end() -> None:
    with pytest.raises(Malformed, match="unexpected EOF"):
        _read("ConfigMap", b"\x9b\x06" * 100_000)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x9b\x06\x9b\x06\x9c\x06\x9c\x06", b"\x9b\x06\x98\x06\x01\x9d\x06abcd\x9c\x06"],
    ids=["nothing", "a group in a group", "values in a group"],
)
def test_groups_of_others_are_passed_over(data: bytes) -> None:
    assert _read("ConfigMap", data) == {"metadata": {}}
    assert complaint.of("ConfigMap", data, {}) == complaint.EOF
