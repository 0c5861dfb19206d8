"""Whether a value fits its schema, decided by jsonschema-rs; why not, by `explaining`.

The translation into JSON Schema may only be as strict as Kubernetes or stricter, never more
lenient: what passes here is accepted, what does not is looked at again. Nothing is compiled before
the first value comes: a server holds many kinds that nobody writes.
"""

from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import Any

from kubevirt.apiserver.schema import formats
from kubevirt.apiserver.schema.explaining import Explanation
from kubevirt.apiserver.schema.field_errors import FieldError
from kubevirt.apiserver.schema.plain import ABSENT
from kubevirt.apiserver.schema.structural import Schema, Values


class Validation:
    """Of one schema."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def errors(self, value: Any, old: Any = ABSENT, at: str = "") -> list[FieldError]:
        """On update, `old` is what the value was: what was wrong then and did not change may stay.
        `at` is where a part of an object stands, such as its status.
        """
        if self._fits(value):
            return []
        return Explanation(matches).of(value, self._schema, old, at)

    @cached_property
    def _fits(self) -> Callable[[Any], bool]:
        import jsonschema_rs  # noqa: PLC0415  # five megabytes that an idle server does not need

        translation = Translation(self._schema)
        try:
            validator = jsonschema_rs.Draft4Validator(
                translation.document(),
                formats=translation.formats,
                validate_formats=True,
                pattern_options=jsonschema_rs.RegexOptions(),
            )
        except (ValueError, jsonschema_rs.ValidationError):
            # Something in it is no JSON Schema, such as a pattern that only Go understands.
            return lambda _value: False
        return validator.is_valid


def matches(pattern: str, text: str) -> bool:
    """By the same engine, which takes linear time and knows what Go's knows. What is no pattern is
    found nowhere.
    """
    expression = _expression(pattern)
    return expression is not None and expression.is_valid(text)


def is_pattern(pattern: str) -> bool:
    return _expression(pattern) is not None


def _expression(pattern: str) -> Any:
    import jsonschema_rs  # noqa: PLC0415

    try:
        return jsonschema_rs.Draft4Validator(
            {"pattern": pattern}, pattern_options=jsonschema_rs.RegexOptions()
        )
    except (ValueError, jsonschema_rs.ValidationError):
        return None


class Translation:
    """A structural schema as JSON Schema, draft 4. Nodes that occur often become definitions, so
    that the compiled form is small.
    """

    def __init__(self, schema: Schema) -> None:
        self._root = schema
        self._uses: Counter[int] = Counter()
        self._count(schema)
        self._definitions: dict[str, Any] = {}
        self.formats: dict[str, Callable[[str], bool]] = {}

    def document(self) -> dict[str, Any]:
        body = self._body(self._root)
        return {**body, "definitions": self._definitions} if self._definitions else body

    def _count(self, schema: Schema) -> None:
        self._uses[id(schema)] += 1
        if self._uses[id(schema)] == 1:
            for child in _children(schema):
                self._count(child)

    def _node(self, schema: Schema) -> dict[str, Any]:
        if self._uses[id(schema)] < 2 or not (schema.properties or schema.items):
            return self._body(schema)
        name = f"n{id(schema)}"
        if name not in self._definitions:
            self._definitions[name] = {}  # known before it is written: it may contain itself
            self._definitions[name] = self._body(schema)
        return {"$ref": f"#/definitions/{name}"}

    def _body(self, schema: Schema) -> dict[str, Any]:
        body: dict[str, Any] = {}
        if types := list(schema.types):
            body["type"] = [*types, "null"] if schema.nullable else types
        if schema.properties:
            body["properties"] = {
                name: self._node(child) for name, child in schema.properties.items()
            }
        if isinstance(schema.additional, Schema):
            body["additionalProperties"] = self._node(schema.additional)
        elif schema.additional is False:
            body["additionalProperties"] = False
        if schema.items is not None:
            body["items"] = self._node(schema.items)
        if schema.values is not None:
            self._say(schema.values, body)
        return body

    def _say(self, values: Values, body: dict[str, Any]) -> None:
        for name, field in _SAME.items():
            value = getattr(values, field)
            # Zero is a bound like any other, though Python takes it for False.
            if value is not None and value is not False and value not in ((), ""):
                body[name] = list(value) if isinstance(value, tuple) else value
        for bound in ("Maximum", "Minimum"):
            if bound.lower() not in body:
                body.pop(f"exclusive{bound}", None)
        if values.enum:
            # A null is never among the allowed values, whatever the author wrote.
            body["enum"] = [each for each in values.enum if each is not None]
        check = formats.check_of(values.format) if values.format else None
        if check is not None:
            body["format"] = values.format
            self.formats[values.format] = check
        for name, branches in (
            ("allOf", values.all_of),
            ("anyOf", values.any_of),
            ("oneOf", values.one_of),
        ):
            if branches:
                body[name] = [self._node(each) for each in branches]
        if values.not_:
            body["not"] = self._node(values.not_)


_SAME = {
    "maximum": "maximum",
    "exclusiveMaximum": "exclusive_maximum",
    "minimum": "minimum",
    "exclusiveMinimum": "exclusive_minimum",
    "maxLength": "max_length",
    "minLength": "min_length",
    "pattern": "pattern",
    "maxItems": "max_items",
    "minItems": "min_items",
    "uniqueItems": "unique_items",
    "multipleOf": "multiple_of",
    "maxProperties": "max_properties",
    "minProperties": "min_properties",
    "required": "required",
}


def _children(schema: Schema) -> list[Schema]:
    found = list(schema.properties.values())
    if isinstance(schema.additional, Schema):
        found.append(schema.additional)
    if schema.items is not None:
        found.append(schema.items)
    if (values := schema.values) is not None:
        found += [*values.all_of, *values.any_of, *values.one_of]
        if values.not_:
            found.append(values.not_)
    return found
