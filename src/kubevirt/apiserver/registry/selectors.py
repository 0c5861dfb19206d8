"""Selectors: which objects a list, a watch or a deletion is about, by labels and by fields."""

from collections.abc import Iterator, Mapping
from typing import Any

from kubevirt.apiserver.http import field_selectors
from kubevirt.apiserver.kinds.kind import Kind, Version
from kubevirt.apiserver.kinds.selectable import LABELS_OF_FIELDS
from kubevirt.apiserver.refusals import bad_request
from kubevirt.apiserver.registry import event_names, label_queries
from kubevirt.apiserver.schema import gotext

Object = Mapping[str, Any]
_Term = tuple[tuple[str, ...], str, bool]
"""The steps to a field, a value, and whether it shall be that or not."""


class Selection:
    """What both selectors of a request pick. `is_everything` if nobody needs to look at an object."""

    def __init__(self, kind: Kind, version: Version, labels: str, fields: str) -> None:
        self._is_newer_event = f"{kind.group}/{version.name}" == event_names.NEWER
        self._labels = label_queries.tests(labels) if labels else []
        self._fields = list(_fields(fields, kind, version)) if fields else []

    @property
    def is_everything(self) -> bool:
        return not self._labels and not self._fields

    @property
    def name(self) -> str:
        """The only name that can match, if one is asked for."""
        for path, value, is_equal in self._fields:
            if path == ("metadata", "name") and is_equal:
                return value
        return ""

    def __contains__(self, object_: Object) -> bool:
        """Of an object as it is stored."""
        if self._fields and self._is_newer_event:
            object_ = event_names.as_newer(object_)
        labels = object_["metadata"].get("labels") or {}
        return all(test(labels) for test in self._labels) and all(
            (_text_at(object_, path) == value) is is_equal for path, value, is_equal in self._fields
        )


def _fields(text: str, kind: Kind, version: Version) -> Iterator[_Term]:
    known = LABELS_OF_FIELDS.get((kind.group, kind.names.plural), ())
    try:
        terms = field_selectors.terms(text)
    except field_selectors.Unreadable as error:
        raise bad_request(str(error)) from error
    for field, value, is_equal in terms:
        is_of_all = field == "metadata.name" or (field == "metadata.namespace" and kind.namespaced)
        if not is_of_all and field not in known and f".{field}" not in version.selectable:
            raise _unknown_field(field, kind)
        yield tuple(field.split(".")), value, is_equal


def _unknown_field(field: str, kind: Kind) -> Exception:
    if (kind.group, kind.names.plural) in LABELS_OF_FIELDS or kind.is_custom:
        return bad_request(f"field label not supported: {field}")
    shown = '"metadata.name", "metadata.namespace"' if kind.namespaced else '"metadata.name"'
    return bad_request(f"{gotext.quoted(field)} is not a known field selector: only {shown}")


def _text_at(object_: Object, path: tuple[str, ...]) -> str:
    found: Any = object_
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    if isinstance(found, bool):
        return "true" if found else "false"
    return "" if found is None else str(found)
