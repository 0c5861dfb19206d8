"""Reading an object and writing it back loses nothing and invents nothing."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubevirt.api import scheme
from kubevirt.api.resource import Resource
from kubevirt.testing.random_objects import objects_of

KINDS = [each.type for each in vars(scheme).values() if isinstance(each, Resource)]
"""KubeVirt's, and those of Kubernetes that we touch."""


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_random_valid_object_survives_a_round_trip(kind: Any, data: st.DataObject) -> None:
    written = data.draw(objects_of(kind))
    text = msgspec.json.encode(written)
    read = msgspec.json.decode(text, type=kind)
    assert msgspec.json.decode(msgspec.json.encode(read)) == msgspec.json.decode(text)
