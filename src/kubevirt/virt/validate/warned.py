"""What is taken, with a word about what will not come of it. kubectl shows it to whoever wrote it."""

from typing import Final

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.api.machine import VirtualMachineSpec
from kubevirt.virt.validate.concerns import concerns
from kubevirt.virt.validate.rules import Rules

RUNNING: Final = "spec.running is deprecated, please use spec.runStrategy instead."
MUST_MOVE: Final = "LiveMigrate"


def machine_warnings(spec: VirtualMachineSpec, rules: Rules) -> tuple[str, ...]:
    deprecated = (RUNNING,) if spec.running is not None else ()
    template = spec.template.spec
    return deprecated + (guest_warnings(template, "spec.template.spec", rules) if template else ())


def guest_warnings(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> tuple[str, ...]:
    return (*_of_moving(spec, field, rules), *concerns(spec, field))


def _of_moving(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> tuple[str, ...]:
    """Manifests of the whole world ask for this strategy, so it is no reason to refuse them."""
    if spec.eviction_strategy != MUST_MOVE or "migrations" in rules.built:
        return ()
    text = "live migration is not built yet; whoever evicts the guest's pod ends the guest"
    return (f"{field}.evictionStrategy: {text}",)
