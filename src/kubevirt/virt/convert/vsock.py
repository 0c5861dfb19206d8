"""The vsock device; its address is given out by the controller."""

from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.domain.vsock import ContextId, Vsock


def vsock(guest: Guest) -> Vsock | None:
    cid = guest.vmi.status.vsockcid
    if cid is None:
        return None
    # vhost-vsock has never had a legacy interface, whatever the other devices use.
    return Vsock(model="virtio-non-transitional", cid=ContextId(auto=False, address=cid))
