"""While a snapshot or a restore works on a machine, its disks and its state hold still."""

from kubevirt.api.machine import VirtualMachine, VirtualMachineSpec
from kubevirt.virt.validate.causes import Causes, not_supported, plain


def lock_causes(old: VirtualMachine, new: VirtualMachine) -> Causes:
    if new.spec == old.spec:
        return
    if snapshot := old.status.snapshot_in_progress:
        if _storage(old.spec) != _storage(new.spec):
            yield not_supported(
                "spec",
                f'Cannot update vm disks or volumes until snapshot "{plain(snapshot)}" completes',
            )
        if _strategy(old.spec) != _strategy(new.spec):
            yield not_supported(
                "spec",
                f'Cannot update vm running state until snapshot "{plain(snapshot)}" completes',
            )
    restore = old.status.restore_in_progress
    if restore and _strategy(old.spec) != _strategy(new.spec) and _strategy(new.spec) != "Halted":
        yield not_supported(
            "spec", f'Cannot update VM runStrategy until restore "{plain(restore)}" completes'
        )


def _storage(spec: VirtualMachineSpec) -> object:
    template = spec.template.spec
    return (template.volumes, template.domain.devices.disks) if template else None


def _strategy(spec: VirtualMachineSpec) -> str | None:
    """In one word, whichever field says it: to move from one field to the other changes nothing."""
    if spec.running is not None:
        return "Always" if spec.running else "Halted"
    return spec.run_strategy
