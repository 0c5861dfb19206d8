"""Rules that their author got wrong: they do not compile, say no bool, look at what cannot be found again."""

from collections.abc import Iterator, Mapping
from typing import Any

from kubevirt.apiserver.schema import cel, gotext, rule_typing
from kubevirt.apiserver.schema.cel import BadExpression
from kubevirt.apiserver.schema.field_errors import FieldError, Verbatim, invalid
from kubevirt.apiserver.schema.rule_typing import DYNAMIC

Source = Mapping[str, Any]


def errors(
    source: Source, path: str, *, is_object: bool = True, lost_at: str = ""
) -> Iterator[FieldError]:
    """`is_object` says whether the schema is of a whole object; `lost_at` is the list above it whose items are not
    found again after a change.
    """
    is_object = is_object or bool(source.get("x-kubernetes-embedded-resource"))
    for index, rule in enumerate(source.get("x-kubernetes-validations") or ()):
        at = f"{path}.x-kubernetes-validations[{index}]"
        yield from _of_types(rule, source, at, is_object=is_object)
        yield from _of_what_was(rule, at, lost_at)
    atomic = path if source.get("x-kubernetes-map-type") == "atomic" else ""
    for name, child in (source.get("properties") or {}).items():
        below = f"{path}.properties[{name}]"
        yield from errors(child, below, is_object=False, lost_at=lost_at or atomic)
    if isinstance(items := source.get("items"), dict):
        unkeyed = "" if source.get("x-kubernetes-list-type") == "map" else path
        yield from errors(items, f"{path}.items", is_object=False, lost_at=lost_at or unkeyed)
    if isinstance(values := source.get("additionalProperties"), dict):
        below = f"{path}.additionalProperties"
        yield from errors(values, below, is_object=False, lost_at=lost_at)


def _of_types(rule: Source, source: Source, at: str, *, is_object: bool) -> Iterator[FieldError]:
    shown = _as_struct(rule)
    for field, wanted, prefix in (
        ("rule", "bool", ""),
        ("messageExpression", "string", "messageExpression "),
    ):
        expression = rule.get(field)
        if not expression:
            continue
        try:
            found = _type_of(expression, rule, source, is_object=is_object)
        except BadExpression as error:
            yield invalid(f"{at}.{field}", shown, f"{prefix}compilation failed: {error}")
            continue
        if found not in (wanted, DYNAMIC):
            who = prefix or "cel expression "
            yield invalid(f"{at}.{field}", shown, f"{who}must evaluate to a {wanted}")


def _type_of(expression: str, rule: Source, source: Source, *, is_object: bool) -> str:
    cel.compile_expression(expression)
    if rule.get("optionalOldSelf"):  # whose oldSelf is another type
        return DYNAMIC
    return rule_typing.type_of(expression, source, is_object=is_object)


def _of_what_was(rule: Source, at: str, lost_at: str) -> Iterator[FieldError]:
    text = rule.get("rule", "")
    is_optional = rule.get("optionalOldSelf")
    if cel.uses_old_self(text):
        if lost_at:
            words = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {lost_at}"
            yield invalid(f"{at}.rule", text, words)
    elif is_optional is not None:
        words = "may not be set if oldSelf is not used in rule"
        yield invalid(f"{at}.optionalOldSelf", is_optional, words)


def _as_struct(rule: Source) -> Verbatim:
    """As Kubernetes shows it: with the names and the order of its own struct."""
    shown = {
        "Rule": rule.get("rule", ""),
        "Message": rule.get("message", ""),
        "MessageExpression": rule.get("messageExpression", ""),
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath", ""),
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }
    return Verbatim("{" + ",".join(f'"{k}":{gotext.json(v)}' for k, v in shown.items()) + "}")
