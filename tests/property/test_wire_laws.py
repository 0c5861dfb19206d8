"""Protobuf: an object of any built-in kind is read as what its JSON says; anything else is refused."""

from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import wire_encoder
from tests.wire_encoder import MESSAGES, Object

from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.wire import envelope
from kubevirt.apiserver.wire.table import ALWAYS, IF_SENT, Field

DEPTH = 6
"""Below which only what must be there is made; schemas have no end of their own."""
FIELDS = 6
"""That are there at once, at most: a pod has hundreds."""

_times = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  # hypothesis adds it
_schemas = st.just({"type": "object"})
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "bytes": st.binary(max_size=9).map(lambda value: b64encode(value).decode()),
    "double": st.floats(allow_nan=False, allow_infinity=False),
    "int-or-string": st.integers(-(2**31), 2**31 - 1) | st.text(max_size=5),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "micro-time": _times.map(lambda each: each.isoformat(timespec="microseconds")[:-6] + "Z"),
    "quantity": st.sampled_from(["0", "1", "100m", "1Gi", "-3"]),
    "raw": st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), min_size=1),
    "schema-or-array": _schemas | st.lists(_schemas, min_size=1, max_size=2),
    "schema-or-bool": st.booleans() | _schemas,
    "schema-or-strings": _schemas | st.lists(st.text(max_size=3), min_size=1, max_size=2),
    "string": st.text(max_size=9),
    "strings": st.lists(st.text(max_size=3), max_size=2),
    "time": _times.map(lambda each: each.isoformat(timespec="seconds")[:-6] + "Z"),
}


@st.composite
def _objects(draw: st.DrawFn, type_: str, depth: int = 0) -> Object:
    """With what JSON always shows, and with some of what it may show."""
    made: Object = {}
    fields = MESSAGES.fields(type_)
    chosen = set(draw(st.lists(st.sampled_from(fields), max_size=FIELDS))) if fields else set()
    for field in fields:
        if not field.name:
            made |= draw(_objects(field.type, depth))
        elif field.shown == ALWAYS or (field in chosen and depth < DEPTH):
            value = draw(_values(field, depth))
            if field.shown in (ALWAYS, IF_SENT) or value:
                made[field.name] = value
    return made


def _values(field: Field, depth: int) -> st.SearchStrategy[Any]:
    plain = _VALUES.get(field.type)
    one = _objects(field.type, depth + 1) if plain is None else plain
    if field.wrapping == "[":
        return st.lists(one, min_size=1, max_size=2)
    if field.wrapping == "{":
        return st.dictionaries(st.text(max_size=5), one, min_size=1, max_size=2)
    return one


KINDS = {
    (f"{kind.group}/{version.name}" if kind.group else version.name, kind.names.kind): (
        version.type_name
    )
    for kind in builtin.kinds()
    for version in kind.versions
} | {**builtin.BELOW, ("apps/v1", "DeleteOptions"): "DeleteOptions"}


@pytest.mark.parametrize("named", KINDS, ids=lambda named: f"{named[1]} of {named[0]}")
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_an_object_is_read_as_its_json_says(named: tuple[str, str], data: st.DataObject) -> None:
    type_ = KINDS[named]
    api_version, kind = named
    object_ = {**data.draw(_objects(type_)), "apiVersion": api_version, "kind": kind}
    body = wire_encoder.body(object_, type_)
    assert envelope.read(body, api_version="", kind="") == object_


@given(st.binary())
def test_bytes_are_an_object_or_a_refusal(data: bytes) -> None:
    for body in (data, envelope.MAGIC + data):
        _read(body)


@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_a_damaged_object_is_an_object_or_a_refusal(data: st.DataObject) -> None:
    named = data.draw(st.sampled_from(sorted(KINDS)))
    object_ = {**data.draw(_objects(KINDS[named])), "apiVersion": named[0], "kind": named[1]}
    body = bytearray(wire_encoder.body(object_, KINDS[named]))
    for _ in range(3):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    _read(bytes(body))
    _read(bytes(body[: data.draw(st.integers(0, len(body)))]))


def _read(body: bytes) -> None:
    try:
        found = envelope.read(body, api_version="v1", kind="ConfigMap")
    except envelope.Malformed:
        return
    assert {"apiVersion", "kind"} <= found.keys()
