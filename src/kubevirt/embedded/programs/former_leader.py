"""The lease of a virt-controller that was killed, given back in its place.

A program that is asked to end gives it back by itself. Of one that was killed the lease would hold for another fifteen
seconds, in which nobody acts. Who started it knows that it has ended.
"""

import socket

from kubevirt.api.core.lease import LeaseSpec
from kubevirt.api.scheme import LEASES
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.components.controller.settings import LEASE
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.patches import MergePatch
from kubevirt.virt.install.options import NAMESPACE

log = get_logger(__name__)


async def give_back(client: Client, home_id: str) -> None:
    """Only that of a program of this home. One on another machine may well be alive; who runs a second one by hand
    on this machine has to see it lose the lead here.
    """
    try:
        found = await client.get(LEASES, LEASE, NAMESPACE)
        holder = found.spec.holder_identity or ""
        if not holder.startswith((f"{socket.gethostname()}_", f"embedded_{home_id}")):
            return
        nobodys = LeaseSpec(holder_identity="", lease_duration_seconds=1)
        version = {"resourceVersion": found.metadata.resource_version}
        patch = MergePatch({"metadata": version, "spec": nobodys})
        await client.patch(LEASES, LEASE, patch, NAMESPACE)
        log.info("the lease of a program that has ended was given back", holder=holder)
    except NotFound:
        return
    except KubevirtError as error:
        log.warning("the lease was not given back; the next holder waits", error=error)
