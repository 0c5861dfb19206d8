"""Devices that come from dynamic resource allocation."""

from kubevirt.api.struct import Struct


class ClaimRequest(Struct, frozen=True, kw_only=True):
    """One request of a resource claim."""

    claim_name: str | None = None
    """Entry of spec.resourceClaims."""
    request_name: str | None = None
    """Request inside that claim, from its list of device requests."""


class VirtualMachineInstanceResourceClaim(Struct, frozen=True, kw_only=True):
    """Claim for devices, allocated before the guest starts; one source."""

    name: str
    """Unique name, a DNS label; devices and networks refer to it."""
    resource_claim_name: str | None = None
    """Existing ResourceClaim in this namespace."""
    resource_claim_template_name: str | None = None
    """ResourceClaimTemplate from which each launcher pod gets a claim, deleted with it."""
