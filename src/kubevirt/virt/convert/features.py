"""Platform features: ACPI, APIC, Hyper-V enlightenments, KVM's signature."""

from kubevirt.api.features import (
    FeatureAPIC,
    FeatureHyperv,
    Features,
    FeatureState,
    SyNICTimer,
    TLBFlush,
)
from kubevirt.virt.convert.guest import Guest, is_on
from kubevirt.virt.convert.notes import Note
from kubevirt.virt.domain import features as xml
from kubevirt.virt.domain.features import State


def features(guest: Guest) -> xml.Features:
    spec = guest.domain.features or Features()
    return xml.Features(
        acpi=guest.architecture.acpi and is_on(spec.acpi.enabled),
        apic=_apic(spec.apic),
        hyperv=_hyperv(spec) if guest.facts.host.kvm else None,
        kvm=_kvm(guest, spec),
        pvspinlock=_state(spec.pvspinlock),
        pmu=_pmu(guest),
        vmport=State(state=False) if guest.architecture.vmport else None,
        smm=State(state=True) if spec.smm and is_on(spec.smm.enabled) else None,
    )


def notes(guest: Guest) -> tuple[Note, ...]:
    spec = guest.domain.features or Features()
    if guest.facts.host.kvm or _hyperv(spec) is None:
        return ()
    message = (
        "Hyper-V enlightenments are not available under emulation; the guest starts without them"
    )
    return (Note(reason="HyperVEmulated", message=message),)


def _apic(spec: FeatureAPIC | None) -> xml.Apic | None:
    return xml.Apic(eoi=spec.end_of_interrupt) if spec and is_on(spec.enabled) else None


def _kvm(guest: Guest, spec: Features) -> xml.Kvm | None:
    hidden = State(state=bool(spec.kvm.hidden)) if spec.kvm else None
    # A guest with CPUs of its own need not yield them when it waits for a lock.
    dedicated = guest.has_dedicated_cpus and guest.architecture.name == "amd64"
    if not hidden and not dedicated:
        return None
    return xml.Kvm(hidden=hidden, hint_dedicated=State(state=True) if dedicated else None)


def _pmu(guest: Guest) -> State | None:
    """Counting events costs time that a real-time guest lacks, and TDX does not offer it."""
    is_realtime = guest.domain.cpu and guest.domain.cpu.realtime is not None
    is_tdx = guest.launch_security and guest.launch_security.tdx is not None
    return State(state=False) if is_realtime or is_tdx else None


def _hyperv(spec: Features) -> xml.HyperV | None:
    if spec.hyperv:
        return _enlightenments(spec.hyperv)
    passthrough = spec.hyperv_passthrough
    return xml.HyperV(mode="passthrough") if passthrough and passthrough.enabled else None


def _enlightenments(spec: FeatureHyperv) -> xml.HyperV:
    spinlocks, vendor = spec.spinlocks, spec.vendorid
    return xml.HyperV(
        relaxed=_state(spec.relaxed),
        vapic=_state(spec.vapic),
        spinlocks=xml.Spinlocks(state=is_on(spinlocks.enabled), retries=spinlocks.spinlocks)
        if spinlocks
        else None,
        vpindex=_state(spec.vpindex),
        runtime=_state(spec.runtime),
        synic=_state(spec.synic),
        stimer=_timer(spec.synictimer),
        reset=_state(spec.reset),
        vendor_id=xml.VendorId(state=is_on(vendor.enabled), value=vendor.vendorid)
        if vendor
        else None,
        frequencies=_state(spec.frequencies),
        reenlightenment=_state(spec.reenlightenment),
        tlbflush=_tlbflush(spec.tlbflush),
        ipi=_state(spec.ipi),
        evmcs=_state(spec.evmcs),
    )


def _timer(spec: SyNICTimer | None) -> xml.SyntheticTimer | None:
    if spec is None:
        return None
    return xml.SyntheticTimer(state=is_on(spec.enabled), direct=_state(spec.direct))


def _tlbflush(spec: TLBFlush | None) -> xml.TlbFlush | None:
    if spec is None:
        return None
    return xml.TlbFlush(
        state=is_on(spec.enabled), direct=_state(spec.direct), extended=_state(spec.extended)
    )


def _state(spec: FeatureState | None) -> State | None:
    return State(state=is_on(spec.enabled)) if spec else None
