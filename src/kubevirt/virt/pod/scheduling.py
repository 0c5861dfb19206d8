"""Which nodes can run the guest. What the instance says is taken as it is; ours is added."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from kubevirt.api.core.scheduling import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from kubevirt.virt.architecture import AMD64
from kubevirt.virt.pod import names
from kubevirt.virt.pod.launch import Launch

YES: Final = "true"
ARCHITECTURE: Final = "kubernetes.io/arch"
OF_THE_NODE: Final = frozenset({None, "host-model", "host-passthrough", "maximum"})
"""CPU models that every node has, each its own."""


def node_selector(launch: Launch) -> Mapping[str, str]:
    return {
        **launch.config.node_selector,
        **launch.spec.node_selector,
        **dict.fromkeys(_needed(launch), YES),
        ARCHITECTURE: launch.spec.architecture or AMD64.name,
        names.SCHEDULABLE: YES,
    }


def _needed(launch: Launch) -> Iterator[str]:
    cpu = launch.domain.cpu
    if launch.is_dedicated:
        yield names.CPU_MANAGER
    if cpu and cpu.realtime:
        yield names.REALTIME
    # An emulated processor is the same on every node.
    if cpu is None or launch.config.emulation:
        return
    if cpu.model not in OF_THE_NODE:
        yield f"{names.CPU_MODEL}/{cpu.model}"
    for feature in cpu.features:
        if feature.policy in {None, "require"}:
            yield f"{names.CPU_FEATURE}/{feature.name}"


def affinity(launch: Launch) -> Affinity | None:
    """The instance's, and away from nodes with a CPU feature that it forbids."""
    wanted = launch.spec.affinity
    cpu = launch.domain.cpu
    forbidden = tuple(
        NodeSelectorRequirement(
            key=f"{names.CPU_FEATURE}/{feature.name}", operator="NotIn", values=(YES,)
        )
        for feature in (cpu.features if cpu and not launch.config.emulation else ())
        if feature.policy == "forbid"
    )
    if not forbidden:
        return wanted
    affinity = wanted or Affinity()
    nodes = affinity.node_affinity or NodeAffinity()
    required = nodes.required_during_scheduling_ignored_during_execution
    # The terms are alternatives, so each of them must forbid; an empty one matches no node as it is.
    terms = required.node_selector_terms if required else (NodeSelectorTerm(),)
    choice = NodeSelector(
        node_selector_terms=tuple(
            term
            if required and term == NodeSelectorTerm()
            else replace(term, match_expressions=(*term.match_expressions, *forbidden))
            for term in terms
        )
    )
    nodes = replace(nodes, required_during_scheduling_ignored_during_execution=choice)
    return replace(affinity, node_affinity=nodes)
