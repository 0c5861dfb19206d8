"""The documents of a manifest, YAML or JSON, as plain data. What comes from a file is bounded."""

from collections.abc import Iterator
from typing import Any, Final

import yaml

from kubevirt.base.errors import UserError

TEXT_LIMIT: Final = 4 << 20
"""Bytes; Kubernetes takes objects of 1.5 MiB."""
VALUE_LIMIT: Final = 200_000
"""Values of all documents, aliases counted wherever they stand: a small file can blow up to anything."""
DEPTH_LIMIT: Final = 64

Document = dict[str, Any]


class ManifestError(UserError):
    def __init__(self, message: str) -> None:
        super().__init__(message, reason="InvalidManifest")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # libyaml, where it is
    """YAML as Kubernetes reads it: a date is a text."""


_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
    for first, pairs in _Loader.yaml_implicit_resolvers.items()
}


def documents(text: str, source: str) -> list[Document]:
    """All documents that are objects, with the items of lists in their place, and no nulls."""
    if len(text.encode()) > TEXT_LIMIT:
        raise ManifestError(f"{source} has more than {TEXT_LIMIT} bytes, which is no manifest")
    try:
        found = list(yaml.load_all(text, Loader=_Loader))
    except yaml.YAMLError as error:
        raise ManifestError(f"{source} is neither YAML nor JSON: {_told(error)}") from None
    budget = _Budget(source)
    return [each for document in found for each in _objects(budget.plain(document), source)]


def _objects(document: Any, source: str) -> Iterator[Document]:
    if document is None:
        return
    if not isinstance(document, dict):
        raise ManifestError(
            f"{source} holds {document!r:.60} where an object with apiVersion and kind belongs"
        )
    if document.get("kind") == "List" and isinstance(document.get("items"), list):
        for item in document["items"]:
            yield from _objects(item, source)
        return
    yield document


class _Budget:
    """Copies plain data while it lasts. Null means absent, as an API server has it."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._left = VALUE_LIMIT

    def plain(self, value: Any, depth: int = 0) -> Any:
        self._left -= 1
        if self._left < 0 or depth > DEPTH_LIMIT:
            raise ManifestError(f"{self._source} is too large or too deep for a manifest")
        if isinstance(value, dict):
            return {
                str(key): self.plain(each, depth + 1)
                for key, each in value.items()
                if each is not None
            }
        if isinstance(value, list):
            return [self.plain(each, depth + 1) for each in value]
        if isinstance(value, bytes | set):  # !!binary, !!set: no JSON
            raise ManifestError(f"{self._source} uses a YAML tag that no Kubernetes object knows")
        return value


def _told(error: yaml.YAMLError) -> str:
    """What and where, in one line."""
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
    where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return f"{what}{where}"
