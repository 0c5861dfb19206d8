"""Features of the virtual platform: ACPI, APIC, Hyper-V enlightenments, KVM."""

from kubevirt.api.struct import Int64, Struct


class FeatureState(Struct, frozen=True, kw_only=True):
    """…"""

    enabled: bool | None = None


class FeatureAPIC(Struct, frozen=True, kw_only=True):
    """…"""

    enabled: bool | None = None
    end_of_interrupt: bool | None = None


class FeatureSpinlocks(Struct, frozen=True, kw_only=True):
    """…"""

    enabled: bool | None = None
    spinlocks: Int64 | None = None


class FeatureVendorID(Struct, frozen=True, kw_only=True):
    """…"""

    enabled: bool | None = None
    vendorid: str | None = None


class SyNICTimer(Struct, frozen=True, kw_only=True):
    """…"""

    direct: FeatureState | None = None
    enabled: bool | None = None


class TLBFlush(Struct, frozen=True, kw_only=True):
    """…"""

    direct: FeatureState | None = None
    enabled: bool | None = None
    extended: FeatureState | None = None


class HyperVPassthrough(Struct, frozen=True, kw_only=True):
    """…"""

    enabled: bool | None = None


class FeatureHyperv(Struct, frozen=True, kw_only=True):
    """…"""

    evmcs: FeatureState | None = None
    frequencies: FeatureState | None = None
    ipi: FeatureState | None = None
    reenlightenment: FeatureState | None = None
    relaxed: FeatureState | None = None
    reset: FeatureState | None = None
    runtime: FeatureState | None = None
    spinlocks: FeatureSpinlocks | None = None
    synic: FeatureState | None = None
    synictimer: SyNICTimer | None = None
    tlbflush: TLBFlush | None = None
    vapic: FeatureState | None = None
    vendorid: FeatureVendorID | None = None
    vpindex: FeatureState | None = None


class FeatureKVM(Struct, frozen=True, kw_only=True):
    """…"""

    hidden: bool | None = None


class Features(Struct, frozen=True, kw_only=True):
    """…"""

    acpi: FeatureState = FeatureState()
    apic: FeatureAPIC | None = None
    hyperv: FeatureHyperv | None = None
    hyperv_passthrough: HyperVPassthrough | None = None
    kvm: FeatureKVM | None = None
    pvspinlock: FeatureState | None = None
    smm: FeatureState | None = None
