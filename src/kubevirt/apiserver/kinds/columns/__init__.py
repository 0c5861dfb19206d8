"""What `kubectl get` prints: the columns of each kind, and how a row comes from an object.

Built-in kinds have a header and a function a kind (`builtin.py`); custom ones say in their CRD where a
value is (`paths.py`), behind the name.
"""

from typing import Any, NamedTuple, Protocol

from kubevirt.apiserver.kinds.columns import builtin, paths
from kubevirt.apiserver.kinds.kind import Column, Kind, Version

Object = dict[str, Any]

NAME = Column(name="Name", format="name", description="Name of the object")
AGE = Column(name="Age", type="date", json_path=".metadata.creationTimestamp")


class Row(Protocol):
    def __call__(self, object_: Object, now: float, /) -> list[Any]:
        """Its cells; `now` is in seconds since 1970."""
        ...


class Layout(NamedTuple):
    columns: tuple[Column, ...]
    row: Row


def layout_of(kind: Kind, version: Version) -> Layout:
    if kind.is_custom:
        return _custom(version)
    columns, cells = builtin.table_of(kind.group, kind.names.plural)
    return Layout(columns, cells)


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
