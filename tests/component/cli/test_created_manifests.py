"""Manifests of virtctl create vm, as a server with our definitions judges them: nothing unknown, nothing missing."""

import pytest
from tests.component.cli.conftest import Place
from tests.unit.cli.create_vm_cases import Case, cases


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_server_takes_it_strictly(place: Place, case: Case) -> None:
    manifest = case.manifest
    manifest["metadata"].pop("namespace", None)
    path = place.path("virtualmachines")
    made = place.ask("POST", path, manifest, params={"dryRun": "All", "fieldValidation": "Strict"})
    assert made["spec"]["template"]["spec"] == manifest["spec"]["template"]["spec"]
