"""Label and field selectors, as far as doubles need them.

Labels: `a=b`, `a==b`, `a!=b`, `a`, `!a`. Fields: `path=value`, `path!=value` for any dotted path; a real
server knows only a few, so keep to those that the kind has.
"""

from collections.abc import Callable, Mapping
from typing import Any

Data = Mapping[str, Any]


def selects(label_selector: str, field_selector: str, thing: Data) -> bool:
    labels: Mapping[str, str] = thing["metadata"].get("labels") or {}
    return all(_holds(condition, labels.get) for condition in _conditions(label_selector)) and all(
        _holds(condition, lambda path: _field(thing, path))
        for condition in _conditions(field_selector)
    )


def _conditions(selector: str) -> list[str]:
    return [part.strip() for part in selector.split(",") if part.strip()]


def _holds(condition: str, value_of: Callable[[str], str | None]) -> bool:
    if "!=" in condition:
        name, _, value = condition.partition("!=")
        return value_of(name.strip()) != value.strip()
    if "=" in condition:
        name, _, value = condition.replace("==", "=").partition("=")
        return value_of(name.strip()) == value.strip()
    if condition.startswith("!"):
        return value_of(condition[1:].strip()) is None
    return value_of(condition) is not None


def _field(thing: Data, path: str) -> str:
    value: Any = thing
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return "" if value is None else str(value)
