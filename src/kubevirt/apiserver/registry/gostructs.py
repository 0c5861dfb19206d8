"""Objects of built-in kinds as Go reads and writes them: what a real server gives back of what it was sent.

A value of a wrong type ends the reading, in the decoder's words. Empty fields go, or come, by the type's
table of presence. A quantity is written in its canonical form, whatever it was said in: `0.5` of a CPU is
`500m`.
"""

from typing import Any, Final

from kubevirt.apiserver.kinds import builtin
from kubevirt.apiserver.kinds.builtin.presence import Marks, marks
from kubevirt.apiserver.kinds.notation import PLAIN, Field
from kubevirt.apiserver.schema import gotext, metadata
from kubevirt.apiserver.schema.metadata import Undecodable
from kubevirt.base.errors import QuantityError
from kubevirt.base.quantity import Quantity

Object = dict[str, Any]

_NO_MARKS: Final = Marks()
_ASIDE: Final[tuple[str, ...]] = ("apiVersion", "kind", "metadata")
"""Of an object: what is read by others."""
_GO: Final[dict[str, tuple[type, str]]] = {
    "boolean": (bool, "bool"),
    "bytes": (str, "[]uint8"),
    "double": (float, "float64"),
    "int32": (int, "int32"),
    "int64": (int, "int64"),
    "integer": (int, "int64"),
    "number": (float, "float64"),
    "string": (str, "string"),
    "time": (str, "time.Time"),
}
_AS_IT_COMES: Final = PLAIN.keys() - _GO.keys() - {"quantity", "int-or-string"}
"""Types that Go reads in ways of their own: what is said of them stays."""
_ZEROS: Final = {bool: False, int: 0, str: "", float: 0}
_INT32: Final = 2**31


def written(object_: Object, type_name: str) -> Object:
    """Raises `Undecodable` for what Go could not read."""
    aside = {name: object_[name] for name in _ASIDE if name in object_}
    rest = {name: value for name, value in object_.items() if name not in _ASIDE}
    return {**aside, **_struct(rest, type_name, "", _ASIDE)}


def metadata_of(object_: Object, type_name: str) -> tuple[Object, list[str]]:
    """As `metadata.read`; what is none at all is a field of the wrong type here."""
    value = object_.get("metadata")
    if value is not None and not isinstance(value, dict):
        raise _Place(type_name, "metadata").cannot_hold(value, "v1.ObjectMeta")
    return metadata.read(value)


def _struct(value: Object, type_name: str, path: str, aside: tuple[str, ...] = ()) -> Object:
    known = marks().get(type_name, _NO_MARKS)
    fields = {each.name: each for each in builtin.types()[type_name].fields}
    made = {}
    for name, child in value.items():
        field = fields.get(name)
        if field is None:
            made[name] = child
            continue
        if child is None:
            continue
        where = f"{path}.{name}" if path else name
        inside = _wrapped(child, field, field.wrapping, _Place(type_name, where))
        if inside or not _may_go(field) or name in known.kept or name in known.always:
            made[name] = inside
    for name, zero in known.always.items():
        if name not in aside and (name not in made or made[name] == {} == zero):
            made[name] = _struct({}, fields[name].type, "") if zero == {} else zero
    return made


def _may_go(field: Field) -> bool:
    """Whether Go leaves it out when it is empty: structs behind pointers it cannot, be they ever so empty."""
    is_struct = not field.wrapping and field.type not in PLAIN
    return not is_struct and field.type not in _AS_IT_COMES


class _Place:
    """Where a value stands: the struct, and the path from the object down."""

    def __init__(self, struct: str, path: str) -> None:
        self._struct = struct.rpartition(".")[2]
        self.path = path

    def cannot_hold(self, value: Any, go: str) -> Undecodable:
        has = gotext.kind_of(value)
        if has == "number" and go.startswith("int"):
            has = f"number {gotext.number(value)}"
        field = f"{self._struct}.{self.path}"
        return Undecodable(
            f"json: cannot unmarshal {has} into Go struct field {field} of type {go}"
        )


def _wrapped(value: Any, field: Field, wrapping: str, place: _Place) -> Any:
    if wrapping.startswith("["):
        if value is None:
            return []
        if not isinstance(value, list):
            raise place.cannot_hold(value, _go_type(field, wrapping))
        return [_wrapped(each, field, wrapping[1:], place) for each in value]
    if wrapping.startswith("{"):
        if not isinstance(value, dict):
            raise place.cannot_hold(value, _go_type(field, wrapping))
        items = value.items()
        return {name: _wrapped(each, field, wrapping[1:], place) for name, each in items}
    if field.type == "quantity":
        return _quantity(value)
    if field.type in PLAIN:
        return _plain(value, field.type, place)
    if value is None:
        value = {}
    if not isinstance(value, dict):
        raise place.cannot_hold(value, _go_type(field, ""))
    return _struct(value, field.type, place.path)


def _plain(value: Any, type_: str, place: _Place) -> Any:
    if type_ == "int-or-string":
        is_number = value.__class__ is int and -_INT32 <= value < _INT32
        if not is_number and not isinstance(value, str):
            raise place.cannot_hold(value, "int32")
        return value
    if type_ not in _GO:
        return value
    class_, go = _GO[type_]
    if value is None:
        return _ZEROS[class_]
    is_fine = value.__class__ is class_ or (class_ is float and value.__class__ is int)
    if not is_fine or (go == "int32" and not -_INT32 <= value < _INT32):
        raise place.cannot_hold(value, go)
    return value


def _go_type(field: Field, wrapping: str) -> str:
    if wrapping.startswith("["):
        return f"[]{_go_type(field, wrapping[1:])}"
    if wrapping.startswith("{"):
        return f"map[string]{_go_type(field, wrapping[1:])}"
    if field.type in _GO:
        return _GO[field.type][1]
    known = {"quantity": "resource.Quantity", "int-or-string": "intstr.IntOrString"}
    return known.get(field.type, f"v1.{field.type.rpartition('.')[2]}")


def _quantity(value: Any) -> str:
    try:
        return str(Quantity.from_json(0 if value is None else value))
    except QuantityError as error:
        raise Undecodable(str(error)) from error
