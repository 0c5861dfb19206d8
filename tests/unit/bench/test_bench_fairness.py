"""What the benchmark compares must be the same for all, or its numbers compare nothing."""

import re
from pathlib import Path
from typing import Any

import bench
import msgspec
import pytest
from bench import population
from bench.contenders import subset
from bench.peers import go_types

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.struct import Struct

CLIENT_GO = Path(bench.__file__).parent / "peers" / "client-go"


def test_a_number_gives_the_same_vmi_every_time_and_no_two_numbers_the_same() -> None:
    assert population.vmi(7) == population.vmi(7)
    names = {(population.namespace_of(n), population.name_of(n)) for n in range(500)}
    assert len(names) == 500


def test_a_vmi_of_the_population_has_only_fields_that_our_types_know() -> None:
    vmi = population.vmi(7)
    typed = msgspec.convert(vmi, VirtualMachineInstance)
    assert without_nulls(msgspec.to_builtins(typed)) == without_nulls(vmi)


def test_the_declared_fields_are_filled_in_by_the_population() -> None:
    typed = msgspec.convert({**population.vmi(7)} | with_uid(population.vmi(7)), subset.Vmi)
    assert typed.status.phase == "Running"
    assert typed.status.conditions
    assert typed.status.interfaces[0].ip_address
    assert typed.metadata.owner_references
    assert typed.spec.volumes[0].data_volume is not None


def test_the_go_types_are_those_of_the_api() -> None:
    assert go_types.OUTPUT.read_text() == go_types.render(), (
        "write them anew: .venv/bin/python -m bench.peers.go_types"
    )


@pytest.mark.parametrize("struct", [subset.Metadata, subset.Spec, subset.Status])
def test_the_go_peer_keeps_the_fields_that_our_subset_declares(struct: type[Struct]) -> None:
    transform = (CLIENT_GO / "subset.go").read_text()
    kept = {name.lower() for name in re.findall(r"(\w+):\s", transform)}
    declared = {field.encode_name.lower() for field in msgspec.structs.fields(struct)}
    assert declared <= kept


def with_uid(vmi: dict[str, Any]) -> dict[str, Any]:
    """As the server stores it."""
    return {"metadata": {**vmi["metadata"], "uid": "1", "resourceVersion": "1"}}


def without_nulls(value: Any) -> Any:
    """Absent and null are one thing to Kubernetes."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return [without_nulls(each) for each in value]
    return value
