"""Selectors: which objects a list, a watch or a deletion is about, by labels and by fields."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from kubevirt.apiserver.kinds.kind import Kind, Version
from kubevirt.apiserver.kinds.selectable import LABELS_OF_FIELDS
from kubevirt.apiserver.refusals import bad_request
from kubevirt.apiserver.registry import event_names
from kubevirt.apiserver.schema import field_errors, names

Labels = Mapping[str, str]
Test = Callable[[Labels], bool]
Object = Mapping[str, Any]

_PIECE: Final = re.compile(r"\s*(?:(==|=|!=|!|,|\(|\)|<|>)|([^\s=!,()<>]+))")
_OPERATORS: Final = ("=", "==", "!=", "in", "notin", "<", ">")


class Selection:
    """What both selectors of a request pick. `is_everything` if nobody needs to look at an object."""

    def __init__(self, kind: Kind, version: Version, labels: str, fields: str) -> None:
        self._is_newer_event = f"{kind.group}/{version.name}" == event_names.NEWER
        self._labels = list(_Labels(labels).requirements()) if labels else []
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


def _fields(text: str, kind: Kind, version: Version) -> Iterator[tuple[tuple[str, ...], str, bool]]:
    known = LABELS_OF_FIELDS.get((kind.group, kind.names.plural), ())
    for term in re.split(r"(?<!\\),", text):
        if not term:
            continue
        found = re.fullmatch(r"((?:[^=!\\]|\\.)*?)(==|!=|=)(.*)", term, re.DOTALL)
        if found is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
        field, operator, value = found.groups()
        path = field.removeprefix(".")
        is_of_all = path == "metadata.name" or (path == "metadata.namespace" and kind.namespaced)
        if not is_of_all and path not in known and f".{path}" not in version.selectable:
            raise _unknown_field(field, kind)
        value = re.sub(r"\\(.)", r"\1", value)
        yield tuple(path.split(".")), value, operator != "!="


def _unknown_field(field: str, kind: Kind) -> Exception:
    if (kind.group, kind.names.plural) in LABELS_OF_FIELDS or kind.is_custom:
        return bad_request(f"field label not supported: {field}")
    shown = '"metadata.name", "metadata.namespace"' if kind.namespaced else '"metadata.name"'
    return bad_request(f'"{field}" is not a known field selector: only {shown}')


def _text_at(object_: Object, path: tuple[str, ...]) -> str:
    found: Any = object_
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    if isinstance(found, bool):
        return "true" if found else "false"
    return "" if found is None else str(found)


class _Labels:
    """A reader of one text: `a=b,c in (d,e),!f`. Its complaints are Kubernetes'."""

    def __init__(self, text: str) -> None:
        self._pieces = [a or b for a, b in _PIECE.findall(text)]
        self._place = 0

    def _peek(self) -> str:
        return self._pieces[self._place] if self._place < len(self._pieces) else ""

    def _next(self) -> str:
        piece = self._peek()
        self._place += 1
        return piece

    def requirements(self) -> Iterator[Test]:
        if not self._pieces:
            return
        while True:
            if self._peek() != "!" and not _is_identifier(self._peek()):
                shown = self._peek()
                raise bad_request(f"found '{shown}', expected: !, identifier, or 'end of string'")
            yield self._requirement()
            piece = self._next()
            if not piece:
                return
            if piece != ",":
                raise bad_request(f"found '{piece}', expected: ',' or 'end of string'")
            if not _is_identifier(self._peek()) and self._peek() != "!":
                raise bad_request(f"found '{self._peek()}', expected: identifier after ','")

    def _requirement(self) -> Test:
        is_absent = self._peek() == "!" and bool(self._next())
        key = self._next()
        if not _is_identifier(key):
            raise _unparsed(f"found '{key}', expected: identifier")
        if wrong := names.qualified(key):
            raise _unparsed(str(field_errors.invalid("<nil>", key, "; ".join(wrong))))
        if is_absent:
            return lambda labels: key not in labels
        if self._peek() in ("", ","):
            return lambda labels: key in labels
        return self._comparison(key, self._next())

    def _comparison(self, key: str, operator: str) -> Test:
        if operator not in _OPERATORS:
            shown = ", ".join(_OPERATORS[:5])
            raise _unparsed(f"found '{operator}', expected: {shown}")
        if operator in ("in", "notin"):
            values = self._values()
        else:
            values = [self._next()] if self._peek() not in ("", ",") else [""]
        for place, value in enumerate(values):
            if wrong := names.label_value(value):
                at = f"values[{place}][{key}]"
                raise _unparsed(str(field_errors.invalid(at, value, "; ".join(wrong))))
        wanted = set(values)
        if operator in ("<", ">"):
            return _ordered(key, operator, values[0])
        if operator in ("in", "=", "=="):
            return lambda labels: labels.get(key) in wanted
        return lambda labels: labels.get(key) not in wanted

    def _values(self) -> list[str]:
        if self._next() != "(":
            found = (*self._pieces, "", "")[self._place - 1]
            raise _unparsed(f"found '{found}' expected: '('")
        values = [""]
        while (piece := self._next()) != ")":
            if not piece:
                raise _unparsed("found '', expected: ',', or ')'")
            if piece == ",":
                values.append("")
            else:
                values[-1] = piece
        return values


def _ordered(key: str, operator: str, bound: str) -> Test:
    if not re.fullmatch(r"[+-]?\d+", bound):
        words = "for 'Gt', 'Lt' operators, the value must be an integer"
        raise _unparsed(str(field_errors.invalid("values[0]", bound, words)))

    def holds(labels: Labels) -> bool:
        value = labels.get(key, "")
        if not re.fullmatch(r"[+-]?\d+", value):
            return False
        return int(value) > int(bound) if operator == ">" else int(value) < int(bound)

    return holds


def _is_identifier(piece: str) -> bool:
    return bool(piece) and piece[0] not in "=!,()<>"


def _unparsed(words: str) -> Exception:
    return bad_request(f"unable to parse requirement: {words}")
