"""Architecture and machine type."""

from fnmatch import fnmatchcase

from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.virt.architecture import ARCHITECTURES
from kubevirt.virt.validate.causes import Causes, invalid, not_supported, plain
from kubevirt.virt.validate.rules import Rules


def machine_type_causes(spec: VirtualMachineInstanceSpec, field: str, rules: Rules) -> Causes:
    name = spec.architecture or rules.settings.architecture
    architecture = ARCHITECTURES.get(name)
    if architecture is None:
        yield not_supported(f"{field}.architecture", f"unsupported architecture: {plain(name)}")
        return
    machine = spec.domain.machine
    kind = machine.type if machine else None
    if not kind:
        return
    allowed = rules.machines(architecture)
    if not any(fnmatchcase(kind, pattern) for pattern in allowed):
        here = f"{field}.domain.machine.type"
        yield not_supported(
            here, f"{here} is not supported: {plain(kind)} (allowed values: [{' '.join(allowed)}])"
        )
    elif not kind.replace("-", "").replace(".", "").replace("_", "").isalnum():
        here = f"{field}.domain.machine.type"
        yield invalid(here, f"{here} '{plain(kind)}' is no name of a machine type")
