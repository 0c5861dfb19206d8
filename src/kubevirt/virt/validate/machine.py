"""Machines: what may be created, and what may change.

A spec may change while its guest runs: the change waits for the next start, and the machine says so
(RestartRequired). Only what a snapshot or a restore holds may not.
"""

from kubevirt.api.machine import VirtualMachine, VirtualMachineSpec
from kubevirt.virt.validate.causes import Cause, Causes, first, invalid, not_supported, required
from kubevirt.virt.validate.data_volume_templates import data_volume_template_causes
from kubevirt.virt.validate.filled import filled_spec_causes
from kubevirt.virt.validate.locks import lock_causes
from kubevirt.virt.validate.missing import sidecar_causes
from kubevirt.virt.validate.rules import Rules
from kubevirt.virt.validate.run_strategy import run_strategy_causes

FIELD = "spec.template.spec"


def created(vm: VirtualMachine, rules: Rules) -> tuple[Cause, ...]:
    return first(_spec(vm, rules))


def updated(old: VirtualMachine, new: VirtualMachine, rules: Rules) -> tuple[Cause, ...]:
    """Metadata and status alone are never a reason to refuse; nor is a machine that is leaving."""
    if new.spec == old.spec or new.metadata.deletion_timestamp is not None:
        return ()
    return first(_updated(old, new, rules))


def _updated(old: VirtualMachine, new: VirtualMachine, rules: Rules) -> Causes:
    yield from lock_causes(old, new)
    yield from _spec(new, rules)


def _spec(vm: VirtualMachine, rules: Rules) -> Causes:
    spec = vm.spec
    yield from run_strategy_causes(spec, rules)
    yield from _missing(spec, rules)
    yield from data_volume_template_causes(spec, rules)
    template = spec.template
    if template.spec is None:
        yield required("spec.template", "missing virtual machine template.")
        return
    yield from sidecar_causes(template.metadata.annotations, "spec.template.metadata", rules)
    yield from filled_spec_causes(template.spec, vm.metadata, FIELD, rules)


def _missing(spec: VirtualMachineSpec, rules: Rules) -> Causes:
    if spec.instancetype is not None and "instancetypes" not in rules.built:
        yield not_supported(
            "spec.instancetype",
            "instance types are not built yet; write CPU and memory into spec.template.spec.domain",
        )
    if spec.preference is not None and "preferences" not in rules.built:
        yield not_supported(
            "spec.preference",
            "preferences are not built yet; write what you prefer into spec.template.spec.domain",
        )
    if spec.update_volumes_strategy == "Migration" and "volumeMigration" not in rules.built:
        yield not_supported(
            "spec.updateVolumesStrategy",
            "volumes cannot be migrated yet; use Replacement, which takes effect at the next start",
        )
    elif spec.update_volumes_strategy not in (None, "", "Replacement", "Migration"):
        yield invalid(
            "spec.updateVolumesStrategy", "updateVolumesStrategy is either Replacement or Migration"
        )
