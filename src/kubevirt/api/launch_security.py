"""Confidential guests: SEV, SEV-SNP, TDX."""

from kubevirt.api.struct import Struct


class SEVAttestation(Struct, frozen=True, kw_only=True):
    """…"""


class SEVPolicy(Struct, frozen=True, kw_only=True):
    """…"""

    encrypted_state: bool | None = None


class SEV(Struct, frozen=True, kw_only=True):
    """…"""

    attestation: SEVAttestation | None = None
    dh_cert: str | None = None
    policy: SEVPolicy | None = None
    session: str | None = None


class SEVSNP(Struct, frozen=True, kw_only=True):
    """…"""


class TDXAttestationConfiguration(Struct, frozen=True, kw_only=True):
    """…"""

    enforced: bool | None = None
    qgs_socket_path: str | None = None


class TDX(Struct, frozen=True, kw_only=True):
    """…"""


class LaunchSecurity(Struct, frozen=True, kw_only=True):
    """…"""

    sev: SEV | None = None
    snp: SEVSNP | None = None
    tdx: TDX | None = None
