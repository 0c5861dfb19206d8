"""The CRDs: complete, structural, described, and small enough for `kubectl apply`."""

import subprocess
import sys
from typing import Any

import msgspec
import pytest

from kubevirt.api import crds, generate, schema
from kubevirt.api.definitions import DEFINITIONS, Definition

ANNOTATION_LIMIT = 256 * 1024
"""Kubernetes refuses an object whose annotations are larger; client-side apply stores itself there."""

BY_NAME = {crd["metadata"]["name"]: crd for crd in crds.load()}
EVERY_DEFINITION = pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.name)


def storage_schema(definition: Definition) -> schema.Schema:
    versions = BY_NAME[definition.name]["spec"]["versions"]
    found: schema.Schema = next(
        version["schema"]["openAPIV3Schema"] for version in versions if version["storage"]
    )
    return found


def test_there_are_twenty_kinds() -> None:
    assert len(BY_NAME) == len(DEFINITIONS) == 20


@EVERY_DEFINITION
def test_the_file_is_what_the_types_say(definition: Definition) -> None:
    assert BY_NAME[definition.name] == generate.crd(definition)


@EVERY_DEFINITION
def test_client_side_apply_can_store_its_annotation(definition: Definition) -> None:
    annotation = msgspec.json.encode(BY_NAME[definition.name])
    assert len(annotation) < ANNOTATION_LIMIT


@EVERY_DEFINITION
def test_exactly_one_version_is_stored(definition: Definition) -> None:
    versions = BY_NAME[definition.name]["spec"]["versions"]
    assert [version["storage"] for version in versions].count(True) == 1
    assert definition.resource.version in {version["name"] for version in versions}


@EVERY_DEFINITION
def test_every_node_has_one_type_or_says_why_not(definition: Definition) -> None:
    untyped = []

    def see(path: str, node: schema.Schema) -> None:
        excused = node.get("x-kubernetes-int-or-string") or node.get(
            "x-kubernetes-preserve-unknown-fields"
        )
        if "type" not in node and not excused:
            untyped.append(path)

    schema.visit(storage_schema(definition), see)
    assert untyped == []


@EVERY_DEFINITION
def test_every_field_that_a_user_writes_is_described(definition: Definition) -> None:
    silent = []

    def see(path: str, node: schema.Schema) -> None:
        named = not path.endswith(("[]", "{}"))
        if path.startswith(".spec") and named and not node.get("description"):
            silent.append(path)

    whole = storage_schema(definition)
    schema.visit(whole, see)
    assert whole["description"]
    assert silent == []


@EVERY_DEFINITION
def test_descriptions_are_sentences_of_a_bearable_length(definition: Definition) -> None:
    odd: list[tuple[str, Any]] = []

    def see(path: str, node: schema.Schema) -> None:
        text = node.get("description")
        if text is not None and (
            len(text) < 3 or len(text) > 170 or "…" in text or text != text.strip()
        ):
            odd.append((path, text))

    schema.visit(storage_schema(definition), see)
    assert odd == []


@EVERY_DEFINITION
def test_keys_of_a_list_map_are_fields_that_every_item_has(definition: Definition) -> None:
    """A server refuses a list map whose keys may be absent."""
    loose = []

    def see(path: str, node: schema.Schema) -> None:
        for key in node.get("x-kubernetes-list-map-keys", ()):
            item = node["items"]
            if key not in item.get("required", ()) and "default" not in item["properties"][key]:
                loose.append(f"{path}[{key}]")

    schema.visit(storage_schema(definition), see)
    assert loose == []


def test_a_stale_file_is_named_with_the_way_out(
    tmp_path: Any, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.setattr(generate, "FOLDER", tmp_path)
    monkeypatch.setattr(sys, "argv", ["generate", "--check"])
    assert generate.main() == 1
    assert "virtualmachines.kubevirt.io.json does not fit the types; run: make generate" in (
        capsys.readouterr().err
    )


def test_generating_twice_changes_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kubevirt.api.generate", "--check"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
