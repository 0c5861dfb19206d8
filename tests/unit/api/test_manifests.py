"""Manifests as users write them, read and written back."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from kubevirt.api.definitions import DEFINITIONS

MANIFESTS = Path(__file__).parents[2] / "manifests"
KINDS = {definition.resource.kind: definition.resource.type for definition in DEFINITIONS}


def documents() -> list[dict[str, Any]]:
    return [
        document
        for file in sorted(MANIFESTS.glob("*.yaml"))
        for document in yaml.safe_load_all(file.read_text())
    ]


@pytest.mark.parametrize(
    "document", documents(), ids=lambda d: f"{d['kind']}-{d['metadata']['name']}"
)
def test_a_manifest_survives_a_round_trip(document: dict[str, Any]) -> None:
    read = msgspec.convert(document, KINDS[document["kind"]])
    assert msgspec.json.decode(msgspec.json.encode(read)) == document


def test_there_is_a_manifest_of_every_kind() -> None:
    assert {document["kind"] for document in documents()} == set(KINDS)
