"""Random valid API objects, as a user could have written them: a hypothesis strategy from a type.

The values are plain JSON data, not structs, so that a test sees what reading and writing does to
them. Each object carries only a handful of its optional fields: that is how real ones look, and it
keeps a VirtualMachine with its thousand fields drawable.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from kubevirt.api.struct import Mark, Struct

OPTIONAL_FIELDS_AT_MOST = 5

texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
times = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)).map(  # noqa: DTZ001  # zone is added
    lambda moment: moment.replace(microsecond=0, tzinfo=UTC).isoformat().replace("+00:00", "Z")
)
SCALARS: Mapping[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(-(2**31), 2**31 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    datetime: times,
    Any: st.dictionaries(texts, st.integers() | texts | st.none(), max_size=3),
}


def objects_of(annotation: Any) -> st.SearchStrategy[Any]:
    """Values that a field with this annotation may hold in JSON."""
    if annotation in SCALARS:
        return SCALARS[annotation]
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is Annotated:
        return _annotated(*arguments)
    if origin in (Union, UnionType):
        return st.one_of([objects_of(each) for each in arguments if each is not NoneType])
    if origin is tuple:
        return st.lists(objects_of(arguments[0]), min_size=1, max_size=2)
    if origin is get_origin(Mapping[str, str]):
        return st.dictionaries(texts, objects_of(arguments[1]), max_size=2)
    return st.deferred(lambda: _struct(annotation))


def _annotated(shape: Any, *marks: object) -> st.SearchStrategy[Any]:
    for mark in marks:
        if isinstance(mark, Mark) and "enum" in (entries := dict(mark.entries)):
            return st.sampled_from(entries["enum"])
    return objects_of(shape)


@st.composite
def _struct(draw: st.DrawFn, struct: type[Struct]) -> dict[str, Any]:
    fields = msgspec.structs.fields(struct)
    hints = get_type_hints(struct, include_extras=True)
    optional = [field for field in fields if not field.required]
    chosen = draw(
        st.lists(
            st.sampled_from(optional), max_size=OPTIONAL_FIELDS_AT_MOST, unique_by=lambda f: f.name
        )
        if optional
        else st.just([])
    )
    wanted = {field.name for field in chosen} | {field.name for field in fields if field.required}
    return {
        field.encode_name: draw(_value_of(field, hints[field.name]))
        for field in fields
        if field.name in wanted
    }


def _value_of(field: msgspec.structs.FieldInfo, hint: Any) -> st.SearchStrategy[Any]:
    # A name or a uid is never empty: there "" stands for absent.
    return texts.filter(bool) if field.default == "" else objects_of(hint)
