"""The rules of one role, compiled: a request looks at the few that are about its resource.

A cluster role such as `edit` has hundreds of combinations of groups and resources, and somebody may be bound
to a hundred roles: most of them answer with one look into a dictionary.
"""

from collections.abc import Iterable

import msgspec

from kubevirt.apiserver.auth.rbac.rules import ALL, Rule, path_matches
from kubevirt.apiserver.http.asked import Asked

Key = tuple[str, str]
"""API group, and resource with its subresource."""


class _Grant(msgspec.Struct, frozen=True):
    """`None` means every verb, every name."""

    verbs: frozenset[str] | None
    names: frozenset[str] | None

    def allows(self, verb: str, name: str) -> bool:
        if self.verbs is not None and verb not in self.verbs:
            return False
        return self.names is None or name in self.names


class Keys(msgspec.Struct, frozen=True):
    """Under what a request may be found; worked out once for all roles that are asked."""

    exact: Key
    wide: tuple[Key, ...]

    @classmethod
    def of(cls, asked: Asked) -> "Keys":
        if not asked.subresource:
            resource = asked.resource
            wide = [(asked.group, ALL), (ALL, resource), (ALL, ALL)]
        else:
            resource = f"{asked.resource}/{asked.subresource}"
            any_with_it = f"{ALL}/{asked.subresource}"
            wide = [(asked.group, ALL), (ALL, resource), (ALL, ALL)]
            wide += [(asked.group, any_with_it), (ALL, any_with_it)]
        return cls((asked.group, resource), tuple(wide))


class CompiledRole:
    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self.resources: dict[Key, tuple[_Grant, ...]] = {}
        self._paths: list[tuple[frozenset[str] | None, str]] = []
        for rule in self.rules:
            self._add(rule)
        self.is_wide = any(
            group == ALL or resource.startswith(ALL) for group, resource in self.resources
        )
        """Whether it may allow what it does not name."""

    def _add(self, rule: Rule) -> None:
        verbs = None if ALL in rule.verbs else frozenset(rule.verbs)
        names = frozenset(rule.resource_names) if rule.resource_names else None
        grant = _Grant(verbs, names)
        for group in rule.api_groups:
            for resource in rule.resources:
                key = group, resource
                self.resources[key] = (*self.resources.get(key, ()), grant)
        self._paths += [(verbs, path) for path in rule.non_resource_urls]

    def allows_resource(self, keys: Keys, verb: str, name: str) -> bool:
        for grant in self.resources.get(keys.exact, ()):
            if grant.allows(verb, name):
                return True
        if not self.is_wide:
            return False
        return any(
            grant.allows(verb, name) for key in keys.wide for grant in self.resources.get(key, ())
        )

    def allows_path(self, verb: str, path: str) -> bool:
        return any(
            (verbs is None or verb in verbs) and path_matches(pattern, path)
            for verbs, pattern in self._paths
        )

    def allows(self, asked: Asked) -> bool:
        if asked.is_resource:
            return self.allows_resource(Keys.of(asked), asked.verb, asked.name)
        return self.allows_path(asked.verb, asked.path)
