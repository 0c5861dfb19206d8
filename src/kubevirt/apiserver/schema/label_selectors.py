"""LabelSelectors: a set of labels, described in an object. What a query says is `registry/selectors.py`."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import FieldError, forbidden, invalid, required

Labels = Mapping[str, str]
Selects = Callable[[Labels], bool]
Object = Mapping[str, Any]


def compile_selector(selector: Object | None) -> Selects | None:
    """None for a selector that selects everything, so that nobody need look for labels."""
    selector = selector or {}
    tests = [_is(key, [value]) for key, value in (selector.get("matchLabels") or {}).items()]
    tests += [_expression(each) for each in selector.get("matchExpressions") or ()]
    if not tests:
        return None
    return lambda labels: all(test(labels) for test in tests)


def _is(key: str, values: list[str]) -> Selects:
    return lambda labels: labels.get(key) in values


def _expression(said: Object) -> Selects:
    key, values = said.get("key", ""), list(said.get("values") or ())
    match said.get("operator"):
        case "In":
            return _is(key, values)
        case "NotIn":
            return lambda labels: labels.get(key) not in values
        case "Exists":
            return lambda labels: key in labels
        case "DoesNotExist":
            return lambda labels: key not in labels
    return lambda _: False


def errors(selector: Object, at: str) -> Iterator[FieldError]:
    for key, value in (selector.get("matchLabels") or {}).items():
        yield from (invalid(f"{at}.matchLabels", key, words) for words in names.qualified(key))
        yield from (
            invalid(f"{at}.matchLabels", value, words) for words in names.label_value(value)
        )
    for index, said in enumerate(selector.get("matchExpressions") or ()):
        yield from _errors_of_expression(said, f"{at}.matchExpressions[{index}]")


def _errors_of_expression(said: Object, at: str) -> Iterator[FieldError]:
    key, operator, values = said.get("key", ""), said.get("operator", ""), said.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            words = "must be specified when `operator` is 'In' or 'NotIn'"
            yield required(f"{at}.values", words)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            words = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield forbidden(f"{at}.values", words)
    else:
        yield invalid(f"{at}.operator", operator, "not a valid selector operator")
    yield from (invalid(f"{at}.key", key, words) for words in names.qualified(key))
    for index, value in enumerate(values):
        wrong = names.label_value(value)
        yield from (invalid(f"{at}.values[{index}]", value, words) for words in wrong)
