"""Devices that come from dynamic resource allocation."""

from kubevirt.api.struct import Struct


class ClaimRequest(Struct, frozen=True, kw_only=True):
    """…"""

    claim_name: str | None = None
    request_name: str | None = None


class VirtualMachineInstanceResourceClaim(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None
