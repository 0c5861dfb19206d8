"""Cluster roles made of others: their rules are those of all roles that their selectors pick.

A role that is picked may itself be made of others (`admin` of `edit` of `view`), so it is worked out until
nothing changes any more. What is decided on is what was written: somebody has to store the changes.
"""

from collections.abc import Mapping
from typing import Any

from kubevirt.apiserver.auth.rbac.rules import Rule, rules_of
from kubevirt.apiserver.schema.label_selectors import compile_selector

Object = Mapping[str, Any]
MANAGER = "clusterrole-aggregation-controller"
"""Of the fields that are written."""


def changes(roles: Mapping[str, Object]) -> dict[str, tuple[Rule, ...]]:
    """The new rules of those cluster roles, by name, whose rules are not what they should be."""
    rules = {name: rules_of(role) for name, role in roles.items()}
    made_of_others = {name: role for name, role in roles.items() if selectors(role)}
    # One after the other, so that a ring of roles comes to rest instead of swapping for ever.
    for _ in range(len(made_of_others) + 1):
        before = dict(rules)
        for name in sorted(made_of_others):
            rules[name] = _gathered(name, made_of_others[name], roles, rules)
        if rules == before:
            break
    return {
        name: rules[name] for name, role in made_of_others.items() if rules[name] != rules_of(role)
    }


def selectors(role: Object) -> list[Object]:
    found: list[Object] = (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or []
    return found


def _gathered(
    name: str, role: Object, roles: Mapping[str, Object], rules: Mapping[str, tuple[Rule, ...]]
) -> tuple[Rule, ...]:
    found: dict[Rule, None] = {}
    for selector in selectors(role):
        for other in sorted(roles):
            if other != name and matches(selector, roles[other]["metadata"].get("labels") or {}):
                found.update(dict.fromkeys(rules[other]))
    return tuple(found)


def matches(selector: Object, labels: Mapping[str, str]) -> bool:
    """A LabelSelector; one that says nothing picks everything."""
    selects = compile_selector(selector)
    return selects is None or selects(labels)
