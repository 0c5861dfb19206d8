"""Platform features: switches that stand on when named, and what they need of each other."""

from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from kubevirt.api.clock import Timer
from kubevirt.api.cpu import CPU, CPUFeature
from kubevirt.api.features import (
    FeatureHyperv,
    Features,
    FeatureSpinlocks,
    FeatureState,
    SyNICTimer,
)
from kubevirt.api.instance import VirtualMachineInstanceSpec
from kubevirt.api.struct import Struct
from kubevirt.virt.architecture import Architecture
from kubevirt.virt.defaults.platform import wants_secure_boot

Spec = VirtualMachineInstanceSpec
S = TypeVar("S", bound=Struct)

SPINLOCK_RETRIES: Final = 4096
HYPERV_NEEDS: Final = (
    ("evmcs", "vapic"),
    ("ipi", "vpindex"),
    ("tlbflush", "vpindex"),
    ("synictimer", "synic"),
    ("synic", "vpindex"),
)
"""Each enlightenment and the one it needs; in an order in which a need is met before it is asked."""


def with_features(spec: Spec, architecture: Architecture) -> Spec:
    features = spec.domain.features or Features()
    if not architecture.acpi and features.acpi.enabled is None:
        features = replace(features, acpi=replace(features.acpi, enabled=False))
    if features.smm is None and architecture.name == "amd64" and wants_secure_boot(spec):
        # Without it secure boot would only look like one: the guest could rewrite the keys.
        features = replace(features, smm=FeatureState())
    features = _switched_on(features)
    if features.hyperv:
        features = replace(features, hyperv=_hyperv(features.hyperv))
    return replace(spec, domain=replace(spec.domain, features=features))


def with_clock(spec: Spec) -> Spec:
    clock = spec.domain.clock
    if clock is None or clock.timer is None:
        return spec
    timers = {
        field.name: replace(timer, present=True)
        for field in msgspec.structs.fields(Timer)
        if (timer := getattr(clock.timer, field.name)) is not None and timer.present is None
    }
    clock = replace(clock, timer=replace(clock.timer, **timers))
    return replace(spec, domain=replace(spec.domain, clock=clock))


def with_vmx_for_evmcs(spec: Spec) -> Spec:
    """The enlightened VMCS is one of a nested hypervisor, which needs the processor's help."""
    features, cpu = spec.domain.features, spec.domain.cpu or CPU()
    evmcs = features.hyperv.evmcs if features and features.hyperv else None
    if evmcs is None or evmcs.enabled is False:
        return spec
    vmx = CPUFeature(name="vmx", policy="require")
    if any(feature.name == vmx.name for feature in cpu.features):
        needed = tuple(vmx if each.name == vmx.name else each for each in cpu.features)
    else:
        needed = (*cpu.features, vmx)
    return replace(spec, domain=replace(spec.domain, cpu=replace(cpu, features=needed)))


def _hyperv(hyperv: FeatureHyperv) -> FeatureHyperv:
    hyperv = _switched_on(hyperv)
    if isinstance(spinlocks := hyperv.spinlocks, FeatureSpinlocks) and spinlocks.enabled:
        retries = spinlocks.spinlocks or SPINLOCK_RETRIES
        hyperv = replace(hyperv, spinlocks=replace(spinlocks, spinlocks=retries))
    if isinstance(timer := hyperv.synictimer, SyNICTimer):
        hyperv = replace(hyperv, synictimer=_switched_on(timer))
    for feature, need in HYPERV_NEEDS:
        asked, met = getattr(hyperv, feature), getattr(hyperv, need)
        if asked is not None and asked.enabled and met is None:
            hyperv = replace(hyperv, **{need: FeatureState(enabled=True)})
    return hyperv


def _switched_on(value: S) -> S:
    """Every switch below that says neither yes nor no."""
    changes = {
        field.name: replace(switch, enabled=True)
        for field in msgspec.structs.fields(value)
        if (switch := getattr(value, field.name)) is not None
        and getattr(switch, "enabled", True) is None
    }
    return replace(value, **changes)
