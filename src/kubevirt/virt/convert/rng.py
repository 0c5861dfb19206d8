"""Random numbers from the host."""

from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.domain.rng import Rng, RngBackend, RngDriver


def rngs(guest: Guest) -> tuple[Rng, ...]:
    if guest.devices.rng is None:
        return ()
    return (
        Rng(
            model=guest.virtio,
            backend=RngBackend(model="random", source="/dev/urandom"),
            driver=RngDriver(iommu=True) if guest.iommu else None,
        ),
    )
