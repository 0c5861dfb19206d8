"""What is taken, with a word about what will not come of it. kubectl shows it to whoever wrote it."""

from collections.abc import Mapping
from typing import Final

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.api.machine import VirtualMachineSpec
from kubevirt.virt.validate.concerns import concerns
from kubevirt.virt.validate.rules import Rules

RUNNING: Final = "spec.running is deprecated, please use spec.runStrategy instead."
WITHOUT_EFFECT: Final[Mapping[str, str]] = {
    "LiveMigrate": "live migration is not built yet; whoever evicts the guest's pod ends the guest",
    "External": (
        "nobody is asked to move the guest yet; whoever evicts the guest's pod ends the guest"
    ),
}
"""Eviction strategies whose authors want their guests to outlive it."""


def machine_warnings(spec: VirtualMachineSpec, rules: Rules) -> tuple[str, ...]:
    deprecated = (RUNNING,) if spec.running is not None else ()
    template = spec.template.spec
    return deprecated + (guest_warnings(template, "spec.template.spec", rules) if template else ())


def guest_warnings(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> tuple[str, ...]:
    return (*_of_moving(spec, field, rules), *concerns(spec, field))


def _of_moving(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> tuple[str, ...]:
    """Manifests of the whole world ask for these strategies, so they are no reason to refuse them."""
    own, of_cluster = spec.eviction_strategy, rules.configuration.eviction_strategy
    text = WITHOUT_EFFECT.get(own or of_cluster or "")
    if text is None or "migrations" in rules.built:
        return ()
    said_by = "" if own else f" is {of_cluster}, as the KubeVirt object has it for all"
    return (f"{field}.evictionStrategy{said_by}: {text}",)
