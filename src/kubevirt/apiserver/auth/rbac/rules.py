"""A rule: verbs on resources, or on paths. Rules only ever add; what none allows is refused."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Final

import msgspec

from kubevirt.apiserver.schema.gotext import quoted

ALL: Final = "*"
Texts = tuple[str, ...]


class Rule(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """As it stands in a Role; in the order in which Kubernetes writes its fields."""

    verbs: Texts = ()
    api_groups: Texts = ()
    resources: Texts = ()
    resource_names: Texts = ()
    non_resource_urls: Texts = msgspec.field(name="nonResourceURLs", default=())

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> "Rule":
        return cls(
            verbs=tuple(rule.get("verbs") or ()),
            api_groups=tuple(rule.get("apiGroups") or ()),
            resources=tuple(rule.get("resources") or ()),
            resource_names=tuple(rule.get("resourceNames") or ()),
            non_resource_urls=tuple(rule.get("nonResourceURLs") or ()),
        )

    def as_object(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self)
        return {name: list(values) for name, values in found.items()}


def rules_of(role: Mapping[str, Any]) -> tuple[Rule, ...]:
    return tuple(Rule.of(each) for each in role.get("rules") or ())


EVERYTHING: Final = (
    Rule(verbs=(ALL,), api_groups=(ALL,), resources=(ALL,)),
    Rule(verbs=(ALL,), non_resource_urls=(ALL,)),
)
"""What an administrator of the cluster has."""


def path_matches(pattern: str, path: str) -> bool:
    if pattern == path:
        return True
    return pattern.endswith(ALL) and path.startswith(pattern.rstrip(ALL))


# What one rule has of another


def missing(held: Sequence[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """Those atoms of what is wanted that no single rule held covers."""
    atoms = (atom for rule in wanted for atom in _atoms(rule))
    return [atom for atom in atoms if not any(_covers(rule, atom) for rule in held)]


def _atoms(rule: Rule) -> Iterable[Rule]:
    """One verb on one resource of one group and name, or on one path, each."""
    names: Sequence[Texts] = [(name,) for name in rule.resource_names] or [()]
    for group, resource, verb, name in product(rule.api_groups, rule.resources, rule.verbs, names):
        yield Rule(verbs=(verb,), api_groups=(group,), resources=(resource,), resource_names=name)
    for path, verb in product(rule.non_resource_urls, rule.verbs):
        yield Rule(verbs=(verb,), non_resource_urls=(path,))


def _covers(rule: Rule, atom: Rule) -> bool:
    return (
        _has_all(rule.verbs, atom.verbs)
        and _has_all(rule.api_groups, atom.api_groups)
        and _has_resources(rule.resources, atom.resources)
        and _has_names(rule.resource_names, atom.resource_names)
        and all(
            any(path_matches(each, path) for each in rule.non_resource_urls)
            for path in atom.non_resource_urls
        )
    )


def _has_all(held: Texts, wanted: Texts) -> bool:
    return ALL in held or all(each in held for each in wanted)


def _has_resources(held: Texts, wanted: Texts) -> bool:
    if _has_all(held, wanted):
        return True
    for resource in wanted:
        _, slash, subresource = resource.partition("/")
        if resource not in held and not (slash and f"{ALL}/{subresource}" in held):
            return False
    return True


def _has_names(held: Texts, wanted: Texts) -> bool:
    """Without names a rule is about all of them, so a list of names never covers it."""
    return not held or (bool(wanted) and all(each in held for each in wanted))


# How rules are shown


def shown(rules: Iterable[Rule]) -> str:
    """Atoms of the same resource in one line, the lines sorted."""
    return "\n".join(sorted({_line(rule) for rule in _compacted(rules)}))


def _compacted(rules: Iterable[Rule]) -> Iterable[Rule]:
    verbs: dict[tuple[Texts, Texts, Texts], list[str]] = {}
    for rule in rules:
        if rule.non_resource_urls:
            yield rule
        else:
            key = rule.api_groups, rule.resources, rule.resource_names
            verbs.setdefault(key, []).extend(rule.verbs)
    for (groups, resources, names), found in verbs.items():
        yield Rule(verbs=tuple(found), api_groups=groups, resources=resources, resource_names=names)


def _line(rule: Rule) -> str:
    parts = {
        "APIGroups": rule.api_groups,
        "Resources": rule.resources,
        "NonResourceURLs": rule.non_resource_urls,
        "ResourceNames": rule.resource_names,
        "Verbs": rule.verbs,
    }
    return "{" + ", ".join(f"{name}:{listed(each)}" for name, each in parts.items() if each) + "}"


def listed(texts: Iterable[str]) -> str:
    """A list of texts as Go's %q shows it."""
    return "[" + " ".join(map(quoted, texts)) + "]"
