"""What `kubectl get` prints: the columns of each kind, and how a row comes from an object.

Built-in kinds have a function a kind (`builtin.py`); custom ones say in their CRD where a value is
(`paths.py`). Every table begins with the name.
"""

from typing import Any, NamedTuple, Protocol

from kubevirt.apiserver.kinds.columns import builtin, paths
from kubevirt.apiserver.kinds.columns.ages import age
from kubevirt.apiserver.kinds.kind import Column, Kind, Version

Object = dict[str, Any]

NAME = Column(name="Name", format="name", description="Name of the object")
AGE = Column(name="Age", type="date", json_path=".metadata.creationTimestamp")


class Row(Protocol):
    def __call__(self, object_: Object, now: float) -> list[Any]:
        """Its cells; `now` is in seconds since 1970."""
        ...


class Layout(NamedTuple):
    columns: tuple[Column, ...]
    row: Row


def layout_of(kind: Kind, version: Version) -> Layout:
    if kind.is_custom:
        return _custom(version)
    found = builtin.LAYOUTS.get((kind.group, kind.names.plural))
    if found is None:
        return Layout((NAME, Column(name="Created At", type="date")), _plain_row)
    columns, cells = found
    return Layout((NAME, *columns), lambda object_, now: [_name(object_), *cells(object_, now)])


def _custom(version: Version) -> Layout:
    columns = version.columns or (AGE,)
    readers = [paths.reader(each) for each in columns]

    def row(object_: Object, now: float) -> list[Any]:
        return [_name(object_), *(read(object_, now) for read in readers)]

    shown = tuple(
        Column(
            name=each.name,
            type=each.type,
            format=each.format,
            description=each.description
            or f"Custom resource definition column (in JSONPath format): {each.json_path}",
            priority=each.priority,
        )
        for each in columns
    )
    return Layout((NAME, *shown), row)


def _name(object_: Object) -> str:
    return str(object_["metadata"].get("name", ""))


def _plain_row(object_: Object, now: float) -> list[Any]:  # noqa: ARG001
    return [_name(object_), object_["metadata"].get("creationTimestamp")]


__all__ = ["Layout", "age", "layout_of"]
