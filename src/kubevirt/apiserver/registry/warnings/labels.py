"""Labels of nodes that have newer names, in whatever picks nodes by them."""

from collections.abc import Iterable, Iterator
from typing import Final

from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema import names

_OUTDATED: Final = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": (
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead'
    ),
    "failure-domain.beta.kubernetes.io/zone": (
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
    ),
    "beta.kubernetes.io/instance-type": (
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'
    ),
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": (
        "deprecated since v1.22; use Taints and Tolerations instead"
    ),
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}


def of_key(key: str, path: str) -> Iterator[str]:
    if key in _OUTDATED:
        yield f"{path}: {_OUTDATED[key]}"


def of_named_key(key: str, path: str) -> Iterator[str]:
    if key in _OUTDATED:
        yield f"{path}: {key} is {_OUTDATED[key]}"


def of_terms(terms: Iterable[Object], path: str) -> Iterator[str]:
    for at, term in enumerate(terms):
        yield from of_term(term, f"{path}[{at}]", checks_values=False)


def of_term(term: Object, path: str, *, checks_values: bool) -> Iterator[str]:
    for at, expression in enumerate(term.get("matchExpressions") or ()):
        where = f"{path}.matchExpressions[{at}]"
        yield from of_named_key(expression.get("key", ""), f"{where}.key")
        for index, value in enumerate(expression.get("values") or () if checks_values else ()):
            for words in names.label_value(value):
                yield f"{where}.values[{index}]: {value} is invalid, {words}"
