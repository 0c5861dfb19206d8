"""What a machine would infer from its volume: left out where that may fail, kept for whoever insists."""

from collections.abc import Mapping

import pytest
from tests.unit.virt.validate.judged import a_vm

from kubevirt.virt.defaults import inference

TRY: Mapping[str, str] = {"inferFromVolume": "root", "inferFromVolumeFailurePolicy": "Ignore"}


@pytest.mark.parametrize("key", ["instancetype", "preference"])
def test_a_try_comes_to_nothing_and_is_left_out(key: str) -> None:
    (found,) = inference.vain(a_vm({"spec": {key: dict(TRY)}}).spec, frozenset())
    assert found == key
    (operation,) = inference.left_out([found])
    assert (operation.op, operation.path) == ("remove", f"/spec/{key}")
    (warning,) = inference.warnings([found])
    assert warning.startswith(f"spec.{key} is left out")


@pytest.mark.parametrize(
    "matcher",
    [
        {"inferFromVolume": "root"},
        {"inferFromVolume": "root", "inferFromVolumeFailurePolicy": "Reject"},
        {**TRY, "name": "u1.small"},
        {"name": "u1.small"},
        {"inferFromVolumeFailurePolicy": "Ignore"},
    ],
)
def test_whoever_insists_is_left_to_the_validator(matcher: Mapping[str, str]) -> None:
    spec = a_vm({"spec": {"instancetype": matcher, "preference": matcher}}).spec
    assert inference.vain(spec, frozenset()) == ()


def test_where_they_are_built_nothing_is_left_out() -> None:
    spec = a_vm({"spec": {"instancetype": dict(TRY), "preference": dict(TRY)}}).spec
    assert inference.vain(spec, frozenset({"instancetypes"})) == ("preference",)
    assert inference.vain(spec, frozenset({"instancetypes", "preferences"})) == ()
