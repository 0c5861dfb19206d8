"""Memory that the host cannot read."""

from typing import Final

from kubevirt.api.launch_security import SEV
from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.domain.security import LaunchSecurity
from kubevirt.virt.errors import SpecError, UnsupportedError

SEV_NO_DEBUG: Final = 1 << 0
SEV_ENCRYPTED_STATE: Final = 1 << 2
SNP_SMT_ALLOWED: Final = 1 << 16
SNP_MUST_BE_ONE: Final = 1 << 17


def launch_security(guest: Guest) -> LaunchSecurity | None:
    spec = guest.launch_security
    if spec is None or guest.architecture.name == "s390x":
        return None  # Secure Execution is a matter of the image; only the devices' IOMMU changes
    if not guest.facts.host.kvm:
        raise UnsupportedError(
            "launchSecurity needs hardware that encrypts memory, and this guest is emulated; "
            "remove launchSecurity or use a node with KVM"
        )
    if not guest.has_efi:
        raise SpecError(
            "launchSecurity needs EFI; set firmware.bootloader.efi with secureBoot false"
        )
    if sum(each is not None for each in (spec.sev, spec.snp, spec.tdx)) != 1:
        raise SpecError("launchSecurity takes exactly one of sev, snp and tdx")
    if spec.sev is not None:
        return _sev(spec.sev)
    if spec.snp is not None:
        return LaunchSecurity(type="sev-snp", policy=f"0x{SNP_SMT_ALLOWED | SNP_MUST_BE_ONE:x}")
    return LaunchSecurity(type="tdx")


def _sev(spec: SEV) -> LaunchSecurity:
    policy = SEV_NO_DEBUG
    if spec.policy and spec.policy.encrypted_state:
        policy |= SEV_ENCRYPTED_STATE
    return LaunchSecurity(
        type="sev",
        policy=f"0x{policy:x}",
        dh_cert=spec.dh_cert or None,
        session=spec.session or None,
    )
