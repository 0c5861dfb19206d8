"""Features of the platform: ACPI, APIC, Hyper-V enlightenments, KVM's signature."""

from msgspec import field

from kubevirt.virt.domain.xml.element import Attr, Element, Flag, OnOff


class State(Element, frozen=True, kw_only=True):
    state: OnOff = None


class Apic(Element, frozen=True, kw_only=True):
    eoi: OnOff = None


class Spinlocks(Element, frozen=True, kw_only=True):
    state: OnOff = None
    retries: Attr[int | None] = None


class VendorId(Element, frozen=True, kw_only=True):
    state: OnOff = None
    value: Attr[str | None] = None


class SyntheticTimer(Element, frozen=True, kw_only=True):
    state: OnOff = None
    direct: State | None = None


class TlbFlush(Element, frozen=True, kw_only=True):
    state: OnOff = None
    direct: State | None = None
    extended: State | None = None


class HyperV(Element, frozen=True, kw_only=True):
    mode: Attr[str | None] = None
    """custom, or passthrough for whatever the host offers."""
    relaxed: State | None = None
    vapic: State | None = None
    spinlocks: Spinlocks | None = None
    vpindex: State | None = None
    runtime: State | None = None
    synic: State | None = None
    stimer: SyntheticTimer | None = None
    reset: State | None = None
    vendor_id: VendorId | None = None
    frequencies: State | None = None
    reenlightenment: State | None = None
    tlbflush: TlbFlush | None = None
    ipi: State | None = None
    evmcs: State | None = None


class Kvm(Element, frozen=True, kw_only=True):
    hidden: State | None = None
    hint_dedicated: State | None = field(default=None, name="hint-dedicated")


class Features(Element, frozen=True, kw_only=True):
    acpi: Flag = False
    apic: Apic | None = None
    hyperv: HyperV | None = None
    kvm: Kvm | None = None
    pvspinlock: State | None = None
    pmu: State | None = None
    vmport: State | None = None
    smm: State | None = None
