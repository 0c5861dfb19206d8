"""What the domain remembers of its instance: whose it is, and how it is to be stopped."""

from typing import Final

from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.domain.metadata import GracePeriod, Kubevirt, Metadata
from kubevirt.virt.names import file_name

DEFAULT_GRACE_S: Final = 30


def metadata(guest: Guest) -> Metadata:
    wanted = guest.vmi.spec.termination_grace_period_seconds
    grace = GracePeriod(deletion_grace_period_seconds=DEFAULT_GRACE_S if wanted is None else wanted)
    return Metadata(kubevirt=Kubevirt(uid=guest.uid, graceperiod=grace))


def domain_name(guest: Guest) -> str:
    """Namespace and name, joined by a character that neither can hold."""
    meta = guest.vmi.metadata
    namespace = file_name("namespace", meta.namespace or "default")
    return f"{namespace}_{file_name('instance', meta.name)}"
