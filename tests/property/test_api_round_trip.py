"""Reading an object and writing it back loses nothing and invents nothing."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubevirt.api.definitions import DEFINITIONS
from kubevirt.testing.random_objects import objects_of

KINDS = [definition.resource.type for definition in DEFINITIONS]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_random_valid_object_survives_a_round_trip(kind: Any, data: st.DataObject) -> None:
    written = data.draw(objects_of(kind))
    text = msgspec.json.encode(written)
    read = msgspec.json.decode(text, type=kind)
    assert msgspec.json.decode(msgspec.json.encode(read)) == msgspec.json.decode(text)
