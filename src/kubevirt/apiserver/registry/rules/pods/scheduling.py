"""Where a pod may run: tolerations, affinities, spreading, gates."""

from collections.abc import Sequence
from typing import Final

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import Errors
from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema import label_selectors, names
from kubevirt.apiserver.schema.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)

EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_POLICIES: Final = ("Honor", "Ignore")
_ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")


def tolerations(found: Sequence[Object], path: str) -> Errors:
    for at, toleration in enumerate(found):
        yield from _toleration(toleration, f"{path}[{at}]")


def _toleration(said: Object, path: str) -> Errors:
    key, operator = said.get("key", ""), said.get("operator", "")
    value, effect = said.get("value", ""), said.get("effect", "")
    if key:
        yield from checks.named(f"{path}.key", key, names.qualified)
    elif operator != "Exists":
        words = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", operator, words)
    if said.get("tolerationSeconds") is not None and effect != "NoExecute":
        words = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield invalid(f"{path}.effect", effect, words)
    if operator in ("", "Equal"):
        if wrong := names.label_value(value):
            yield invalid(f"{path}.operator", value, ";".join(wrong))
    elif operator == "Exists":
        if value:
            words = "value must be empty when `operator` is 'Exists'"
            yield invalid(f"{path}.operator", value, words)
    else:
        yield not_supported(f"{path}.operator", operator, ("Equal", "Exists"))
    if effect:
        yield from checks.one_of(f"{path}.effect", effect, EFFECTS)


# Affinity


def affinity(said: Object | None, path: str) -> Errors:
    for name in ("nodeAffinity", "podAffinity", "podAntiAffinity"):
        found = (said or {}).get(name)
        if found is None:
            continue
        of = _of_nodes if name == "nodeAffinity" else _of_pods
        yield from of(found, f"{path}.{name}")


def _of_nodes(said: Object, path: str) -> Errors:
    if (selector := said.get(REQUIRED)) is not None:
        yield from node_selector(selector, f"{path}.{REQUIRED}")
    for at, term in enumerate(said.get(PREFERRED) or []):
        field = f"{path}.{PREFERRED}[{at}]"
        yield from _weight(term, field)
        yield from _node_term(term.get("preference") or {}, f"{field}.preference", is_loose=True)


def node_selector(selector: Object, path: str) -> Errors:
    terms = selector.get("nodeSelectorTerms") or []
    if not terms:
        words = "must have at least one node selector term"
        yield required(f"{path}.nodeSelectorTerms", words)
    for at, term in enumerate(terms):
        yield from _node_term(term, f"{path}.nodeSelectorTerms[{at}]", is_loose=False)


def _node_term(term: Object, path: str, *, is_loose: bool) -> Errors:
    """Values of a loose one may be anything."""
    for at, each in enumerate(term.get("matchExpressions") or []):
        field = f"{path}.matchExpressions[{at}]"
        yield from _expression(each, field)
        for place, value in enumerate(() if is_loose else each.get("values") or ()):
            yield from checks.named(f"{field}.values[{place}]", value, names.label_value)
    for at, each in enumerate(term.get("matchFields") or []):
        yield from _node_field(each, f"{path}.matchFields[{at}]")


def _expression(term: Object, path: str) -> Errors:
    """Nodes are also picked by numbers, which label selectors do not know."""
    operator, values = term.get("operator", ""), term.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            words = "must be specified when `operator` is 'In' or 'NotIn'"
            yield required(f"{path}.values", words)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            words = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield forbidden(f"{path}.values", words)
    elif operator not in ("Gt", "Lt"):
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        words = "must be specified single value when `operator` is 'Lt' or 'Gt'"
        yield required(f"{path}.values", words)
    yield from checks.named(f"{path}.key", term.get("key", ""), names.qualified)


def _node_field(term: Object, path: str) -> Errors:
    key, operator, values = term.get("key", ""), term.get("operator", ""), term.get("values") or []
    if operator not in ("In", "NotIn"):
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        words = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", words)
    if key != "metadata.name":
        yield invalid(f"{path}.key", key, "not a valid field selector key")
        return
    for at, value in enumerate(values):
        yield from checks.named(f"{path}.values[{at}]", value, names.subdomain)


def _of_pods(said: Object, path: str) -> Errors:
    for at, term in enumerate(said.get(REQUIRED) or []):
        yield from _pod_term(term, f"{path}.{REQUIRED}[{at}]")
    for at, weighted in enumerate(said.get(PREFERRED) or []):
        field = f"{path}.{PREFERRED}[{at}]"
        yield from _weight(weighted, field)
        yield from _pod_term(weighted.get("podAffinityTerm") or {}, f"{field}.podAffinityTerm")


def _weight(term: Object, path: str) -> Errors:
    weight = term.get("weight", 0)
    if not 1 <= weight <= 100:
        yield invalid(f"{path}.weight", weight, "must be in the range 1-100")


def _pod_term(term: Object, path: str) -> Errors:
    for name in ("labelSelector", "namespaceSelector"):
        yield from label_selectors.errors(term.get(name) or {}, f"{path}.{name}")
    for namespace in term.get("namespaces") or []:
        yield from checks.named(f"{path}.namespace", namespace, names.label)
    yield from _label_keys(term, path, term.get("labelSelector"))
    key = term.get("topologyKey", "")
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from checks.named(f"{path}.topologyKey", key, names.qualified)


def _label_keys(term: Object, path: str, selector: Object | None) -> Errors:
    """Keys whose values the pod itself gives."""
    for name in ("matchLabelKeys", "mismatchLabelKeys"):
        keys = term.get(name) or []
        if keys and selector is None:
            yield forbidden(f"{path}.{name}", "must not be specified when labelSelector is not set")
        elif keys:
            for at, key in enumerate(keys):
                yield from checks.named(f"{path}.{name}[{at}]", key, names.qualified)
    unwanted = set(term.get("mismatchLabelKeys") or [])
    for at, key in enumerate(term.get("matchLabelKeys") or []):
        if key in unwanted:
            words = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield invalid(f"{path}.matchLabelKeys[{at}]", key, words)


# Spreading


def spreading(constraints: Sequence[Object], path: str) -> Errors:
    for at, constraint in enumerate(constraints):
        field = f"{path}[{at}]"
        yield from _constraint(constraint, field)
        pair = _pair(constraint)
        if pair in map(_pair, constraints[at + 1 :]):
            yield duplicate(
                f"{field}.{{topologyKey, whenUnsatisfiable}}", f"{{{pair[0]}, {pair[1]}}}"
            )


def _pair(constraint: Object) -> tuple[str, str]:
    return constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")


def _constraint(said: Object, path: str) -> Errors:
    yield from checks.positive(f"{path}.maxSkew", said.get("maxSkew", 0))
    key, action = _pair(said)
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from checks.one_of(f"{path}.whenUnsatisfiable", action, _ACTIONS)
    if (least := said.get("minDomains")) is not None:
        yield from checks.positive(f"{path}.minDomains", least)
        if action != _ACTIONS[0]:
            words = f"can only use minDomains if whenUnsatisfiable={_ACTIONS[0]}, not {action}"
            yield invalid(f"{path}.minDomains", least, words)
    for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if (policy := said.get(name)) is not None:
            yield from checks.one_of(f"{path}.{name}", policy, _POLICIES)
    yield from _label_keys(said, path, said.get("labelSelector"))
    yield from label_selectors.errors(said.get("labelSelector") or {}, f"{path}.labelSelector")


# Gates


def gates(spec: Object, path: str) -> Errors:
    for at, gate in enumerate(spec.get("readinessGates") or []):
        field = f"{path}.readinessGates[{at}].conditionType"
        yield from checks.named(field, gate.get("conditionType", ""), names.qualified)
    seen: set[str] = set()
    for at, gate in enumerate(spec.get("schedulingGates") or []):
        field, name = f"{path}.schedulingGates[{at}]", gate.get("name", "")
        yield from checks.named(field, name, names.qualified)
        if name in seen:
            yield duplicate(field, name)
        seen.add(name)
