"""Our types against upstream's own documents, where they are at hand (tests/upstream.py)."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import yaml
from tests import upstream

from kubevirt.api.definitions import DEFINITIONS

pytestmark = upstream.needed

KINDS = {definition.resource.kind: definition.resource.type for definition in DEFINITIONS}
NOT_IN_THEIR_DOCUMENT = {"Plugin", "VirtualMachineBackupTracker"}


def definitions() -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(upstream.swagger())
    return dict(found["definitions"])


def upstream_fields(document: dict[str, Any], name: str, path: str = "") -> Iterator[str]:
    """Every field path below a definition. Object metadata is the server's own."""
    for field, node in document[name].get("properties", {}).items():
        here = f"{path}.{field}"
        yield here
        reference = (node.get("items") or node.get("additionalProperties") or node).get("$ref", "")
        target = reference.rsplit("/", 1)[-1]
        if target and not target.endswith(("ObjectMeta", "FieldsV1", "RawExtension")):
            yield from upstream_fields(document, target, here)


def our_fields(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    for field, node in schema.get("properties", {}).items():
        here = f"{path}.{field}"
        yield here
        for below in (node, node.get("items", {}), node.get("additionalProperties", {})):
            yield from our_fields(below, here)


@pytest.mark.parametrize(
    "definition",
    [each for each in DEFINITIONS if each.resource.kind not in NOT_IN_THEIR_DOCUMENT],
    ids=lambda d: d.name,
)
def test_no_field_is_missing_and_none_is_extra(definition: Any) -> None:
    from kubevirt.api import schema

    resource = definition.resource
    theirs = set(upstream_fields(definitions(), f"{resource.version}.{resource.kind}"))
    ours = set(our_fields(schema.of_kind(definition.resource.type)))
    # The document gives every type called Condition a probe time; metav1's has none.
    theirs = {path for path in theirs if path != ".status.conditions.lastProbeTime"}
    ours = {path for path in ours if path != ".status.conditions.lastProbeTime"}
    assert (sorted(theirs - ours), sorted(ours - theirs)) == ([], [])


def example_objects() -> list[Any]:
    return [
        pytest.param(document, id=f"{file.name}-{document['kind']}")
        for file in upstream.examples()
        for document in yaml.safe_load_all(file.read_text())
        if document and document.get("kind") in KINDS
    ]


@pytest.mark.parametrize("document", example_objects())
def test_their_examples_survive_a_round_trip(document: dict[str, Any]) -> None:
    read = msgspec.convert(document, KINDS[document["kind"]])
    assert msgspec.json.decode(msgspec.json.encode(read)) == document
