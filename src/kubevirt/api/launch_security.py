"""Confidential guests: SEV, SEV-SNP, TDX."""

from typing import Annotated

from kubevirt.api.struct import Struct, mark


class SEVAttestation(Struct, frozen=True, kw_only=True):
    """Asks for attestation before the guest runs; has no settings."""


class SEVPolicy(Struct, frozen=True, kw_only=True):
    """Demands of the guest's owner; debugging by the host is never allowed."""

    encrypted_state: bool | None = None
    """Also encrypts registers (SEV-ES); false by default."""


class SEV(Struct, frozen=True, kw_only=True):
    """Memory encryption by AMD SEV."""

    attestation: SEVAttestation | None = None
    """Holds the start until the owner has checked the launch measurement."""
    dh_cert: str | None = None
    """Diffie-Hellman certificate of the owner in base64."""
    policy: SEVPolicy | None = None
    """What the platform must grant."""
    session: str | None = None
    """Launch session blob of the owner in base64."""


class SEVSNP(Struct, frozen=True, kw_only=True):
    """Memory encryption with integrity by AMD SEV-SNP; has no settings."""


class TDXAttestationConfiguration(Struct, frozen=True, kw_only=True):
    """Attestation of TDX guests in the cluster."""

    enforced: Annotated[bool | None, mark(default=False)] = None
    """Lets TDX guests run only on nodes with a Quote Generation Service."""
    qgs_socket_path: Annotated[str | None, mark(default="/var/run/tdx-qgs/qgs.socket")] = None
    """Path of the service's socket on the node."""


class TDX(Struct, frozen=True, kw_only=True):
    """Trust domain by Intel TDX; has no settings."""


class LaunchSecurity(Struct, frozen=True, kw_only=True):
    """Memory hidden from the host: one technology on amd64; empty for s390x Secure Execution."""

    sev: SEV | None = None
    """AMD SEV or SEV-ES."""
    snp: SEVSNP | None = None
    """AMD SEV-SNP."""
    tdx: TDX | None = None
    """Intel TDX; gate WorkloadEncryptionTDX."""
