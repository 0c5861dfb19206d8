"""`x-kubernetes-validations`: rules in CEL that an object must keep.

A rule sees the value that it stands at as `self`, and what was there before as `oldSelf`. A rule that
mentions `oldSelf` is about changes and is asked only where there was something, unless it says that
`oldSelf` may be missing. A value that broke a rule before and did not change may go on breaking it.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import UNSET, Struct

from kubevirt.apiserver.schema import field_errors, gotext
from kubevirt.apiserver.schema.cel import (
    BadExpression,
    Evaluate,
    EvaluationFailed,
    compile_expression,
    uses_old_self,
)
from kubevirt.apiserver.schema.field_errors import NO_FIELD, FieldError
from kubevirt.apiserver.schema.plain import ABSENT, is_same
from kubevirt.apiserver.schema.structural import Rule, Schema

MESSAGE_LIMIT: Final = 5 * 1024


class _Compiled(Struct, frozen=True):
    rule: Rule
    is_about_change: bool
    evaluate: Evaluate | None
    message: Evaluate | None
    complaint: str = ""

    @property
    def words(self) -> str:
        return (self.rule.message or self.rule.rule).strip()

    def default_message(self) -> str:
        return self.rule.message.strip() or f"failed rule: {self.words}"


class Rules:
    """Of one schema. Compiled when they are first asked."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._compiled: dict[int, tuple[_Compiled, ...]] = {}
        self._escapes: dict[int, bool] = {}

    def broken(self, new: Any, old: Any = ABSENT) -> list[FieldError]:
        change = None if old is ABSENT else _Change(new, old)
        return list(self._broken(new, old, self._schema, "", change))

    def _broken(
        self, new: Any, old: Any, schema: Schema, path: str, change: "_Change | None"
    ) -> Iterator[FieldError]:
        if new is None or not schema.has_rules:
            return
        if schema.rules:
            yield from self._broken_here(new, old, schema, path, change)
        if isinstance(new, dict):
            before = old if isinstance(old, dict) and schema.map_type != "atomic" else {}
            for name, value in new.items():
                known = schema.for_field(name)
                if known is not None and known.has_rules:
                    below = _below(path, name, schema)
                    inner = change.field(name, is_root=not path) if change else None
                    yield from self._broken(value, before.get(name, ABSENT), known, below, inner)
        elif isinstance(new, list) and schema.items is not None and schema.items.has_rules:
            before = _by_key(old, schema)
            for index, item in enumerate(new):
                then = before.get(_key(item, schema), ABSENT) if before else ABSENT
                inner = change.item(item, then) if change else None
                yield from self._broken(item, then, schema.items, f"{path}[{index}]", inner)

    def _broken_here(
        self, new: Any, old: Any, schema: Schema, path: str, change: "_Change | None"
    ) -> Iterator[FieldError]:
        variables = {"self": self._escaped(new, schema)}
        if old is not ABSENT and old is not None:
            variables["oldSelf"] = self._escaped(old, schema)
        for compiled in self._compiled_of(schema):
            if compiled.is_about_change and "oldSelf" not in variables:
                if not compiled.rule.optional_old_self:
                    continue
                variables = {**variables, "oldSelf": None}
            error = _judge(compiled, variables, schema.type, path)
            if error is None:
                continue
            if not compiled.is_about_change and change and change.is_none():
                continue
            yield error

    def _compiled_of(self, schema: Schema) -> tuple[_Compiled, ...]:
        found = self._compiled.get(id(schema))
        if found is None:
            found = self._compiled[id(schema)] = tuple(map(_compile, schema.rules))
        return found

    def _escaped(self, value: Any, schema: Schema | None) -> Any:
        """With names of fields as rules write them: `a-b` is `a__dash__b` in CEL."""
        if schema is None or not self._needs_escapes(schema):
            return value
        if isinstance(value, dict):
            return {
                escape(name) if name in schema.properties else name: self._escaped(
                    child, schema.for_field(name)
                )
                for name, child in value.items()
            }
        if isinstance(value, list):
            return [self._escaped(item, schema.items) for item in value]
        return value

    def _needs_escapes(self, schema: Schema) -> bool:
        known = self._escapes.get(id(schema))
        if known is None:
            self._escapes[id(schema)] = False  # while it is found out: it may contain itself
            children = list(schema.properties.values())
            below = (schema.items, schema.additional)
            children += [each for each in below if isinstance(each, Schema)]
            known = self._escapes[id(schema)] = any(
                escape(name) != name for name in schema.properties
            ) or any(map(self._needs_escapes, children))
        return known


class _Change(Struct, frozen=True):
    """A value and what it was, as far up as it can be told."""

    new: Any
    old: Any
    above: "_Change | None" = None

    def is_none(self) -> bool:
        """What cannot be told is answered by what is around it."""
        if self.old is not ABSENT:
            return is_same(self.new, self.old)
        return self.above is not None and self.above.is_none()

    def field(self, name: str, *, is_root: bool) -> "_Change | None":
        if self.old is ABSENT:
            return self
        if is_root and name in ("apiVersion", "kind"):
            return None
        known = isinstance(self.old, dict) and name in self.old
        return _Change(self.new[name], self.old[name] if known else ABSENT, self)

    def item(self, new: Any, old: Any) -> "_Change":
        return self if self.old is ABSENT else _Change(new, old, self)


def _compile(rule: Rule) -> _Compiled:
    is_about_change = uses_old_self(rule.rule)
    try:
        evaluate = compile_expression(
            rule.rule, old_self_is_optional=is_about_change and bool(rule.optional_old_self)
        )
    except BadExpression as error:
        return _Compiled(rule, is_about_change, None, None, f"compilation failed: {error}")
    message = None
    if rule.message_expression:
        try:
            message = compile_expression(rule.message_expression)
        except BadExpression:
            message = None  # then the message that is written counts
    return _Compiled(rule, is_about_change, evaluate, message)


def _judge(
    compiled: _Compiled, variables: dict[str, Any], type_: str, path: str
) -> FieldError | None:
    at = path or NO_FIELD
    if compiled.evaluate is None:
        return field_errors.invalid(at, type_, f"rule compile error: {compiled.complaint}")
    try:
        if compiled.evaluate(variables) is True:
            return None
    except EvaluationFailed as error:
        if str(error).startswith("no such overload"):
            words = "call arguments did not match a supported operator, function or macro signature"
            return field_errors.invalid(at, type_, f"'{error}': {words} for rule: {compiled.words}")
        return field_errors.invalid(at, type_, f"{error} evaluating rule: {compiled.words}")
    return _refusal(compiled, variables, type_, path)


def _refusal(compiled: _Compiled, variables: dict[str, Any], type_: str, path: str) -> FieldError:
    rule = compiled.rule
    at = f"{path}{rule.field_path}".removeprefix(".") or NO_FIELD
    message = _message(compiled, variables)
    match rule.reason:
        case "FieldValueForbidden":
            return field_errors.forbidden(at, message)
        case "FieldValueRequired":
            return field_errors.required(at, message)
        case "FieldValueDuplicate":
            return field_errors.duplicate(at, type_)
        case _:
            return field_errors.invalid(at, type_, message)


def _message(compiled: _Compiled, variables: dict[str, Any]) -> str:
    if compiled.message is None:
        return compiled.default_message()
    try:
        text = compiled.message(variables)
    except EvaluationFailed:
        return compiled.default_message()
    text = text.strip() if isinstance(text, str) else ""
    if not text or "\n" in text or len(text.encode()) > MESSAGE_LIMIT:
        return compiled.default_message()
    return text


def _below(path: str, name: str, schema: Schema) -> str:
    if name not in schema.properties:
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name


def _by_key(old: Any, schema: Schema) -> dict[str, Any]:
    """Items can be found again only where they have keys."""
    if schema.list_type != "map" or not isinstance(old, list):
        return {}
    return {_key(item, schema): item for item in reversed(old) if isinstance(item, dict)}


def _key(item: Any, schema: Schema) -> str:
    """A key that is left out counts as its default."""
    if not isinstance(item, dict):
        return ""
    properties = schema.items.properties if schema.items else {}
    return gotext.json(
        [item.get(name, _default(properties.get(name))) for name in schema.list_keys]
    )


def _default(schema: Schema | None) -> Any:
    return None if schema is None or schema.default is UNSET else schema.default


_ESCAPES: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_NEEDS_ESCAPE: Final = re.compile(r"__|[./-]")
_RESERVED: Final = frozenset(
    [
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"),
        *("function", "if", "import", "let", "loop", "package", "namespace", "return", "var"),
        *("void", "while"),
    ]
)


def escape(name: str) -> str:
    """The name of a field in an expression."""
    if name in _RESERVED:
        return f"__{name}__"
    return _NEEDS_ESCAPE.sub(lambda found: _ESCAPES[found[0]], name)
