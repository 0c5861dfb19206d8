"""Writes the CRDs from the types: `python -m kubevirt.api.generate`, with `--check` only compares."""

import argparse
import sys
from pathlib import Path
from typing import Any

import msgspec

from kubevirt.api import schema
from kubevirt.api.definitions import DEFINITIONS, Column, Definition, Version

FOLDER = Path(__file__).parent / "crds"


def crd(definition: Definition) -> dict[str, Any]:
    """The whole CustomResourceDefinition of one kind."""
    resource = definition.resource
    shape = schema.of_kind(resource.type)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": definition.name, "labels": dict(definition.labels)},
        "spec": {
            "group": resource.group,
            "names": _names(definition),
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [_version(definition, version, shape) for version in definition.versions],
        },
    }


def _names(definition: Definition) -> dict[str, Any]:
    kind = definition.resource.kind
    names: dict[str, Any] = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": definition.resource.plural,
        "singular": kind.lower(),
    }
    if definition.categories:
        names["categories"] = list(definition.categories)
    if definition.short_names:
        names["shortNames"] = list(definition.short_names)
    return names


def _version(definition: Definition, version: Version, shape: schema.Schema) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": version.name, "served": True, "storage": version.storage}
    if version.deprecated:
        entry["deprecated"] = True
        entry["deprecationWarning"] = version.deprecated
    if definition.columns:
        entry["additionalPrinterColumns"] = [_column(column) for column in definition.columns]
    if subresources := _subresources(definition):
        entry["subresources"] = subresources
    entry["schema"] = {"openAPIV3Schema": shape}
    return entry


def _column(column: Column) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": column.name, "type": column.type, "jsonPath": column.path}
    if column.priority:
        entry["priority"] = column.priority
    return entry


def _subresources(definition: Definition) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    if definition.has_status:
        entry["status"] = {}
    if definition.scale:
        entry["scale"] = {
            "specReplicasPath": definition.scale.spec,
            "statusReplicasPath": definition.scale.status,
            "labelSelectorPath": definition.scale.selector,
        }
    return entry


def files() -> dict[Path, bytes]:
    """Every generated file with its content."""
    return {
        FOLDER / f"{definition.name}.json": render(crd(definition)) for definition in DEFINITIONS
    }


def render(document: dict[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def stale(wanted: dict[Path, bytes]) -> list[Path]:
    """Files that are missing, differ, or that no type asks for any more."""
    differing = [path for path, text in wanted.items() if not _holds(path, text)]
    return differing + [path for path in FOLDER.glob("*.json") if path not in wanted]


def _holds(path: Path, text: bytes) -> bool:
    return path.is_file() and path.read_bytes() == text


def main() -> int:
    parser = argparse.ArgumentParser(prog="kubevirt.api.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if stale")
    wanted = files()
    old = stale(wanted)
    if parser.parse_args().check:
        for path in old:
            sys.stderr.write(f"{path.name} does not fit the types; run: make generate\n")
        return 1 if old else 0
    FOLDER.mkdir(exist_ok=True)
    for path in old:
        if path in wanted:
            path.write_bytes(wanted[path])
        else:
            path.unlink()
    sys.stderr.write(f"{len(wanted)} CRDs, {len(old)} of them changed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
