"""Nulls where a list, a map or a text belongs: for whoever reads, they are absent.

Go writes an empty list as null unless its field says otherwise: a ClusterRole without rules comes with
`"rules": null`, an EndpointSlice without endpoints with `"endpoints": null`. Where a type takes null, and in data
of any shape, it stays. `decoding.py` asks only after it has failed: nearly all objects have none.
"""

from functools import cache
from typing import Any

from msgspec import inspect


def without_nulls(value: Any, type_: Any) -> Any:
    """JSON data as this type can take it, as far as that is a matter of nulls."""
    return _fitted(value, _shape_of(type_))


@cache
def _shape_of(type_: Any) -> inspect.Type:
    return inspect.type_info(type_)


def _fitted(value: Any, shape: inspect.Type) -> Any:
    match shape:
        case inspect.Metadata(type=inner):
            return _fitted(value, inner)
        case inspect.UnionType(types=choices):
            for each in choices:
                value = _fitted(value, each)
        case inspect.StructType(fields=fields) if isinstance(value, dict):
            shapes = {field.encode_name: field.type for field in fields}
            return {
                name: _fitted(each, shapes[name]) if name in shapes else each
                for name, each in value.items()
                if each is not None or name not in shapes or _takes_null(shapes[name])
            }
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item) if isinstance(
            value, list
        ):
            return [_fitted(each, item) for each in value]
        case inspect.DictType(value_type=values) if isinstance(value, dict):
            return {name: _fitted(each, values) for name, each in value.items()}
    return value


def _takes_null(shape: inspect.Type) -> bool:
    match shape:
        case inspect.Metadata(type=inner):
            return _takes_null(inner)
        case inspect.UnionType(types=choices):
            return any(map(_takes_null, choices))
    return isinstance(shape, inspect.NoneType | inspect.AnyType | inspect.RawType)
