"""Why a value does not fit its schema, in Kubernetes' words.

Kubernetes words an error by the check that failed and by its place among the others, down to which
branch of an `anyOf` came nearest. So the checks here run in its order and count as it counts. This
walk is for refusals: whether a value fits is decided by `validation`, which is a hundred times faster.

On update, what is wrong already and was not touched is left alone: the old value travels along.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import Struct

from kubevirt.apiserver.schema import field_errors, formats, gotext
from kubevirt.apiserver.schema.field_errors import FieldError
from kubevirt.apiserver.schema.plain import ABSENT, is_number, is_same
from kubevirt.apiserver.schema.structural import Schema, Values

Matches = Callable[[str, str], bool]
"""Whether a pattern is found in a text; the regular expressions are Go's."""


class Found(Struct):
    """What a check found wrong, and how much of the schema was met on the way."""

    errors: dict[str, FieldError] = {}
    """By text: the same words are said once."""
    matches: int = 0

    def add(self, error: FieldError, text: str = "") -> None:
        self.errors.setdefault(text or str(error), error)

    def merge(self, other: "Found") -> None:
        for text, error in other.errors.items():
            self.errors.setdefault(text, error)
        self.matches += other.matches


class Explanation:
    def __init__(self, matches: Matches) -> None:
        self._matches = matches

    def of(self, value: Any, schema: Schema, old: Any = ABSENT, at: str = "") -> list[FieldError]:
        """`at` is where the value stands in the object; the words do not know it, the fields do."""
        found = self._node(value, schema, "", old).errors.values()
        return [_placed(error, at) for error in found] if at else list(found)

    def _node(self, value: Any, schema: Schema, path: str, old: Any) -> Found:
        found = self._all_checks(value, schema, path, old)
        if found.errors and old is not ABSENT and is_same(old, value):
            found.errors = {}
        return found

    def _all_checks(self, value: Any, schema: Schema, path: str, old: Any) -> Found:
        found = Found()
        values = schema.values or _NO_VALUES
        types = schema.types
        check_format = formats.check_of(values.format) if values.format else None
        if types or (check_format and value is not None):
            found.merge(_check_type(value, schema, path, is_formatted=check_format is not None))
            found.matches += value is not None
        if value is None:
            found.merge(_check_enum(value, values, path))
            return found
        found.merge(self._check_branches(value, values, path, old))
        found.matches += 1
        if isinstance(value, str):
            found.merge(self._check_text(value, values, path))
            found.matches += 1
            if check_format:
                found.matches += 1
                if not check_format(value):
                    detail = f"{path} in body must be of type {values.format}: "
                    detail += gotext.quoted(value)
                    found.add(field_errors.type_invalid(path, value, detail))
        elif is_number(value):
            found.merge(_check_number(value, values, path))
            found.matches += 1
        elif isinstance(value, list):
            found.merge(self._check_items(value, schema, values, path, old))
            found.matches += 1
        found.merge(_check_enum(value, values, path))
        found.matches += 1
        if isinstance(value, dict):
            found.merge(self._check_fields(value, schema, values, path, old))
            found.matches += 1
        found.matches += 1
        return found

    def _check_text(self, value: str, values: Values, path: str) -> Found:
        """The first thing that is wrong."""
        found = Found()
        if values.max_length is not None and len(value) > values.max_length:
            found.add(field_errors.too_long(path, values.max_length))
        elif values.min_length is not None and len(value) < values.min_length:
            detail = f"{path} in body should be at least {values.min_length} chars long"
            found.add(field_errors.invalid(path, value, detail))
        elif values.pattern and not self._matches(values.pattern, value):
            detail = f"{path} in body should match '{values.pattern}'"
            found.add(field_errors.invalid(path, value, detail))
        return found

    def _check_items(
        self, value: list[Any], schema: Schema, values: Values, path: str, old: Any
    ) -> Found:
        found = Found()
        if schema.items is not None:
            before = _old_items(schema, old)
            for index, item in enumerate(value):
                then = before(item)
                found.merge(self._node(item, schema.items, f"{path}[{index}]", then))
        size = len(value)
        if values.min_items is not None and size < values.min_items:
            detail = f"{path} in body should have at least {values.min_items} items"
            found.add(field_errors.invalid(path, size, detail))
        if values.max_items is not None and size > values.max_items:
            found.add(field_errors.too_many(path, size, values.max_items))
        if values.unique_items and _has_twins(value):
            detail = f"{path} in body shouldn't contain duplicates"
            found.add(field_errors.invalid(path, "", detail))
        found.matches += 1
        return found

    def _check_fields(
        self, value: dict[str, Any], schema: Schema, values: Values, path: str, old: Any
    ) -> Found:
        found = Found()
        count = len(value)
        if values.min_properties is not None and count < values.min_properties:
            detail = f"{path} in body should have at least {values.min_properties} properties"
            found.add(field_errors.invalid(path, count, detail))
        if values.max_properties is not None and count > values.max_properties:
            found.add(field_errors.too_many(path, count, values.max_properties))
        before = old if isinstance(old, dict) else {}
        self._check_unnamed(found, value, schema, path, before)
        for name, known in schema.properties.items():
            if name in value:
                below = f"{path}.{name}" if path else name
                # The version of an object is never what it was: it is converted before it is seen.
                is_type = not path and name in ("apiVersion", "kind")
                then = ABSENT if is_type else before.get(name, ABSENT)
                found.merge(self._node(value[name], known, below, then))
        for name in values.required:
            if name not in value:
                found.add(field_errors.required(f"{path}.{name}" if path else name))
        return found

    def _check_unnamed(
        self, found: Found, value: dict[str, Any], schema: Schema, path: str, old: dict[str, Any]
    ) -> None:
        """Fields that the schema does not name."""
        additional = schema.additional
        if additional is None or additional is True:
            return
        for name, child in value.items():
            if name in schema.properties:
                continue
            if isinstance(additional, Schema):
                then = old.get(name, ABSENT)
                found.merge(self._node(child, additional, f"{path}.{name}", then))
            else:
                detail = f"{path}.{name} in body is a forbidden property"
                found.add(field_errors.invalid(path, name, detail))

    def _check_branches(self, value: Any, values: Values, path: str, old: Any) -> Found:
        found = Found(matches=1)
        if values.any_of:
            found.merge(self._any_of(value, values.any_of, path, old))
        if values.one_of:
            found.merge(self._one_of(value, values.one_of, path, old))
        if values.all_of:
            found.merge(self._all_of(value, values.all_of, path, old))
        if values.not_ and not self._all_checks(value, values.not_, path, old).errors:
            _add_branch_error(found, f'"{path}" must not validate the schema (not)')
        return found

    def _any_of(self, value: Any, branches: Iterable[Schema], path: str, old: Any) -> Found:
        nearest: Found | None = None
        for branch in branches:
            tried = self._all_checks(value, branch, path, old)
            if not tried.errors:
                return tried
            if nearest is None or tried.matches > nearest.matches:
                nearest = tried
        found = Found()
        _add_branch_error(found, f'"{path}" must validate at least one schema (anyOf)')
        if nearest:
            found.merge(nearest)
        return found

    def _one_of(self, value: Any, branches: Iterable[Schema], path: str, old: Any) -> Found:
        fitting: list[Found] = []
        nearest: Found | None = None
        for branch in branches:
            tried = self._all_checks(value, branch, path, old)
            if not tried.errors:
                fitting.append(tried)
                nearest = None
            elif not fitting and (nearest is None or tried.matches > nearest.matches):
                nearest = tried
        if len(fitting) == 1:
            return fitting[0]
        many = f"Found {len(fitting)} valid alternatives" if fitting else "Found none valid"
        found = Found()
        _add_branch_error(found, f'"{path}" must validate one and only one schema (oneOf). {many}')
        if nearest:
            found.merge(nearest)
        return found

    def _all_of(self, value: Any, branches: tuple[Schema, ...], path: str, old: Any) -> Found:
        found = Found()
        fitting = 0
        for branch in branches:
            tried = self._all_checks(value, branch, path, old)
            fitting += not tried.errors
            found.merge(tried)
        if fitting != len(branches):
            none = "" if fitting else ". None validated"
            _add_branch_error(found, f'"{path}" must validate all the schemas (allOf){none}')
        return found


_NO_VALUES: Final = Values()


def _add_branch_error(found: Found, words: str) -> None:
    """Kubernetes says these of the whole value."""
    found.add(field_errors.invalid(field_errors.NO_FIELD, "", words), words)


def _placed(error: FieldError, at: str) -> FieldError:
    is_whole = error.field in ("", field_errors.NO_FIELD)
    return FieldError(error.reason, at if is_whole else f"{at}.{error.field}", error.message)


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    return _JSON_TYPES[value.__class__]


_JSON_TYPES: Final = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def _check_type(value: Any, schema: Schema, path: str, *, is_formatted: bool) -> Found:
    types = schema.types
    has = _json_type(value)
    if value is None:
        fits = schema.nullable or not types
    elif is_formatted and isinstance(value, str | list) and not _is_numeric(types):
        fits = True  # the format is what counts then
    else:
        fits = (
            has in types
            or (has == "integer" and "number" in types)
            or (has == "number" and value.is_integer() and "integer" in types)
        )
    if fits:
        return Found(matches=1)
    found = Found()
    detail = f'{path} in body must be of type {",".join(types)}: "{has}"'
    found.add(field_errors.type_invalid(path, has, detail))
    return found


def _is_numeric(types: tuple[str, ...]) -> bool:
    return "number" in types or "integer" in types


def _check_enum(value: Any, values: Values, path: str) -> Found:
    found = Found()
    if values.enum and not any(_is_allowed(value, each) for each in values.enum):
        found.add(field_errors.not_supported(path, value, values.enum))
    return found


def _is_allowed(value: Any, allowed: Any) -> bool:
    """Null is never: Kubernetes compares values that have a Go type, after conversion to the type of
    what is allowed. So a fraction is cut off, and the type check alone complains.
    """
    if isinstance(value, float) and isinstance(allowed, int) and not isinstance(allowed, bool):
        value = int(value)
    return value is not None and is_same(value, allowed)


def _check_number(value: float, values: Values, path: str) -> Found:
    """Bounds are whole for whole numbers, as Go converts them."""
    found = Found(matches=1)
    convert: Callable[[float], float] = int if isinstance(value, int) else float
    if values.multiple_of is not None:
        factor = convert(values.multiple_of)
        if factor <= 0:
            words = f"factor MultipleOf declared for {path} must be positive: "
            found.add(field_errors.invalid(path, factor, words + gotext.number(factor)))
        elif not _is_multiple(value, factor):
            words = f"{path} in body should be a multiple of {gotext.number(factor)}"
            found.add(field_errors.invalid(path, value, words))
    if values.minimum is not None:
        least = convert(values.minimum)
        if value < least or (values.exclusive_minimum and value == least):
            words = "greater than" if values.exclusive_minimum else "greater than or equal to"
            detail = f"{path} in body should be {words} {gotext.number(least)}"
            found.add(field_errors.invalid(path, value, detail))
    if values.maximum is not None:
        most = convert(values.maximum)
        if value > most or (values.exclusive_maximum and value == most):
            words = "less than" if values.exclusive_maximum else "less than or equal to"
            detail = f"{path} in body should be {words} {gotext.number(most)}"
            found.add(field_errors.invalid(path, value, detail))
    return found


def _is_multiple(value: float, factor: float) -> bool:
    if isinstance(value, int) and isinstance(factor, int):
        return value % factor == 0
    ratio = 1 / factor * value if factor < 1 else value / factor
    return abs(ratio - round(ratio)) < 1e-9 * max(abs(ratio), 1)


def _has_twins(value: list[Any]) -> bool:
    return any(
        is_same(item, other) for index, item in enumerate(value) for other in value[index + 1 :]
    )


def _old_items(schema: Schema, old: Any) -> Callable[[Any], Any]:
    """Finds what an item was before. Only items with keys can be found again."""
    if not isinstance(old, list) or schema.list_type != "map":
        return lambda _item: ABSENT
    by_key: dict[str, Any] = {}
    for item in old:
        if isinstance(item, dict):
            by_key.setdefault(_key(item, schema), item)

    def find(item: Any) -> Any:
        return by_key.get(_key(item, schema), ABSENT) if isinstance(item, dict) else ABSENT

    return find


def _key(item: dict[str, Any], schema: Schema) -> str:
    return gotext.json([item.get(name) for name in schema.list_keys])
