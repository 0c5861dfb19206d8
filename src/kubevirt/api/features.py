"""Features of the virtual platform: ACPI, APIC, Hyper-V enlightenments, KVM."""

from kubevirt.api.struct import Int32, Struct


class FeatureState(Struct, frozen=True, kw_only=True):
    """Switch of one feature; naming the feature turns it on."""

    enabled: bool | None = None
    """false turns it off; true if not set."""


class FeatureAPIC(Struct, frozen=True, kw_only=True):
    """Advanced interrupt controller of x86."""

    enabled: bool | None = None
    """false takes the APIC away; true if not set."""
    end_of_interrupt: bool | None = None
    """Paravirtual end-of-interrupt signal (PV EOI); off by default."""


class FeatureSpinlocks(Struct, frozen=True, kw_only=True):
    """How long Windows spins on a lock before it tells the hypervisor."""

    enabled: bool | None = None
    """false turns it off; true if not set."""
    spinlocks: Int32 | None = None
    """Attempts before the notification, 4096 (default) or more."""


class FeatureVendorID(Struct, frozen=True, kw_only=True):
    """Hypervisor vendor that CPUID shows."""

    enabled: bool | None = None
    """false turns it off; true if not set."""
    vendorid: str | None = None
    """Vendor string of at most 12 characters."""


class SyNICTimer(Struct, frozen=True, kw_only=True):
    """Timers of Hyper-V's synthetic interrupt controller."""

    direct: FeatureState | None = None
    """Delivers expirations as plain interrupts instead of messages."""
    enabled: bool | None = None
    """false turns it off; true if not set."""


class TLBFlush(Struct, frozen=True, kw_only=True):
    """Flushing of other vCPUs' TLBs by a hypercall."""

    direct: FeatureState | None = None
    """Lets a nested guest flush without an exit to its own hypervisor; speeds up Windows VBS."""
    enabled: bool | None = None
    """false turns it off; true if not set."""
    extended: FeatureState | None = None
    """Flushes single ranges instead of everything."""


class HyperVPassthrough(Struct, frozen=True, kw_only=True):
    """All enlightenments at once."""

    enabled: bool | None = None
    """true offers whatever the node's KVM supports."""


class FeatureHyperv(Struct, frozen=True, kw_only=True):
    """Hyper-V enlightenments: interfaces that make Windows faster on KVM."""

    evmcs: FeatureState | None = None
    """Enlightened VMCS for nested virtualisation on Intel; needs vapic."""
    frequencies: FeatureState | None = None
    """Shows TSC and APIC frequencies by MSR."""
    ipi: FeatureState | None = None
    """Interrupts between vCPUs by hypercall, cheap when CPUs are overcommitted; needs vpindex."""
    reenlightenment: FeatureState | None = None
    """Tells the guest when migration changes the TSC frequency."""
    relaxed: FeatureState | None = None
    """Keeps Windows from crashing when a vCPU is scheduled late."""
    reset: FeatureState | None = None
    """Reboot by a hypervisor register; needs synic."""
    runtime: FeatureState | None = None
    """Shows each vCPU's consumed time to the guest."""
    spinlocks: FeatureSpinlocks | None = None
    """Notification about long waits for a lock."""
    synic: FeatureState | None = None
    """Synthetic interrupt controller; needs vpindex."""
    synictimer: SyNICTimer | None = None
    """Synthetic timers, cheaper than emulated ones; needs synic."""
    tlbflush: TLBFlush | None = None
    """TLB shootdown by hypercall; needs vpindex."""
    vapic: FeatureState | None = None
    """Virtual APIC page, which saves exits at interrupts."""
    vendorid: FeatureVendorID | None = None
    """Changes the vendor the guest sees."""
    vpindex: FeatureState | None = None
    """Lets the guest read the number of a vCPU."""


class FeatureKVM(Struct, frozen=True, kw_only=True):
    """How KVM shows itself."""

    hidden: bool | None = None
    """Removes KVM's signature from CPUID, for drivers that refuse to run in a VM; off by default.
    """


class Features(Struct, frozen=True, kw_only=True):
    """Parts of the platform that can be switched."""

    acpi: FeatureState = FeatureState()
    """Power management and device tables; on by default, and graceful shutdown relies on it."""
    apic: FeatureAPIC | None = None
    """Interrupt controller of x86."""
    hyperv: FeatureHyperv | None = None
    """Single Hyper-V enlightenments; not together with hypervPassthrough."""
    hyperv_passthrough: HyperVPassthrough | None = None
    """Every enlightenment the node has; such a guest cannot migrate."""
    kvm: FeatureKVM | None = None
    """Visibility of KVM."""
    pvspinlock: FeatureState | None = None
    """Paravirtual spinlocks; switch off for old kernels that mishandle them."""
    smm: FeatureState | None = None
    """System management mode, which EFI secure boot needs."""
