"""Where a guest may run: selectors, affinity, tolerations, spread. The pod takes them as they are.

What Kubernetes would refuse in the pod is refused in the guest: else the VM would be accepted and
never start.
"""

from typing import Final

from kubevirt.api.core.scheduling import (
    Affinity,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    Toleration,
    TopologySpreadConstraint,
)
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.validate.causes import Causes, invalid, not_supported, plain, required
from kubevirt.virt.validate.rules import Rules

EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
WITHOUT_VALUES: Final = ("Exists", "DoesNotExist")
MAX_WEIGHT: Final = 100

Terms = PodAffinity | PodAntiAffinity


def placement_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    del rules
    for index, toleration in enumerate(spec.tolerations):
        yield from _toleration(toleration, f"{field}.tolerations[{index}]")
    for index, spread in enumerate(spec.topology_spread_constraints):
        yield from _spread(spread, f"{field}.topologySpreadConstraints[{index}]")
    if spec.affinity:
        yield from _affinity(spec.affinity, f"{field}.affinity")


def _toleration(toleration: Toleration, at: str) -> Causes:
    if toleration.operator not in (None, "", "Equal", "Exists"):
        yield not_supported(
            f"{at}.operator",
            f'{at}.operator: Unsupported value: "{plain(toleration.operator)}": supported values: '
            f'"Equal", "Exists"',
        )
    if toleration.effect and toleration.effect not in EFFECTS:
        shown = ", ".join(f'"{effect}"' for effect in EFFECTS)
        yield not_supported(
            f"{at}.effect",
            f'{at}.effect: Unsupported value: "{plain(toleration.effect)}": supported values: {shown}',
        )
    if toleration.operator == "Exists" and toleration.value:
        yield invalid(f"{at}.operator", f"{at}.value must be empty when `operator` is 'Exists'")
    if not toleration.key and toleration.operator != "Exists":
        yield invalid(
            f"{at}.operator",
            f'{at}.operator must be Exists when `key` is empty, which means "match all values and '
            f'all keys"',
        )
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        yield invalid(
            f"{at}.effect", f"{at}.effect must be 'NoExecute' when `tolerationSeconds` is set"
        )


def _spread(spread: TopologySpreadConstraint, at: str) -> Causes:
    if spread.max_skew < 1:
        yield invalid(f"{at}.maxSkew", f"{at}.maxSkew must be greater than zero")
    if not spread.topology_key:
        yield required(f"{at}.topologyKey", f"{at}.topologyKey can not be empty")
    if spread.when_unsatisfiable not in ("DoNotSchedule", "ScheduleAnyway"):
        yield not_supported(
            f"{at}.whenUnsatisfiable",
            f'{at}.whenUnsatisfiable: Unsupported value: "{plain(spread.when_unsatisfiable)}": '
            f'supported values: "DoNotSchedule", "ScheduleAnyway"',
        )


def _affinity(affinity: Affinity, at: str) -> Causes:
    if nodes := affinity.node_affinity:
        here = f"{at}.nodeAffinity"
        demanded = nodes.required_during_scheduling_ignored_during_execution
        if demanded:
            terms_at = f"{here}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
            if not demanded.node_selector_terms:
                yield required(
                    terms_at,
                    f"{terms_at}: Required value: must have at least one node selector term",
                )
            for index, term in enumerate(demanded.node_selector_terms):
                yield from _node_term(term, f"{terms_at}[{index}]")
        for index, wish in enumerate(nodes.preferred_during_scheduling_ignored_during_execution):
            wish_at = f"{here}.preferredDuringSchedulingIgnoredDuringExecution[{index}]"
            yield from _weight(wish.weight, wish_at)
            yield from _node_term(wish.preference, f"{wish_at}.preference")
    if affinity.pod_affinity:
        yield from _pod_terms(affinity.pod_affinity, f"{at}.podAffinity")
    if affinity.pod_anti_affinity:
        yield from _pod_terms(affinity.pod_anti_affinity, f"{at}.podAntiAffinity")


def _node_term(term: NodeSelectorTerm, at: str) -> Causes:
    groups = (("matchExpressions", term.match_expressions), ("matchFields", term.match_fields))
    for name, requirements in groups:
        for index, each in enumerate(requirements):
            here = f"{at}.{name}[{index}]"
            if each.operator not in OPERATORS:
                yield invalid(
                    f"{here}.operator",
                    f"{here}.operator: not a valid selector operator: {plain(each.operator)}",
                )
            elif each.operator in WITHOUT_VALUES and each.values:
                yield invalid(
                    f"{here}.values",
                    f"{here}.values: may not be specified when `operator` is 'Exists' or "
                    f"'DoesNotExist'",
                )
            elif each.operator in ("In", "NotIn") and not each.values:
                yield required(
                    f"{here}.values",
                    f"{here}.values: must be specified when `operator` is 'In' or 'NotIn'",
                )


def _pod_terms(terms: Terms, at: str) -> Causes:
    for index, term in enumerate(terms.required_during_scheduling_ignored_during_execution):
        here = f"{at}.requiredDuringSchedulingIgnoredDuringExecution[{index}]"
        yield from _pod_term(term, here)
    for index, wish in enumerate(terms.preferred_during_scheduling_ignored_during_execution):
        here = f"{at}.preferredDuringSchedulingIgnoredDuringExecution[{index}]"
        yield from _weight(wish.weight, here)
        yield from _pod_term(wish.pod_affinity_term, f"{here}.podAffinityTerm")


def _pod_term(term: PodAffinityTerm, at: str) -> Causes:
    if not term.topology_key:
        yield required(f"{at}.topologyKey", f"{at}.topologyKey: can not be empty")


def _weight(weight: int, at: str) -> Causes:
    if not 1 <= weight <= MAX_WEIGHT:
        yield invalid(f"{at}.weight", f"{at}.weight: must be in the range 1-{MAX_WEIGHT}")
