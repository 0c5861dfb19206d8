"""The memory balloon."""

from kubevirt.virt.annotations import FREE_PAGE_REPORTING_DISABLED
from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.domain.balloon import Balloon, BalloonDriver, BalloonStats


def balloon(guest: Guest) -> Balloon:
    if guest.devices.autoattach_mem_balloon is False:
        return Balloon(model="none")
    period = guest.facts.cluster.balloon_stats_period
    return Balloon(
        model=guest.virtio,
        free_page_reporting=_reports_free_pages(guest),
        stats=BalloonStats(period=period) if period else None,
        driver=BalloonDriver(iommu=True) if guest.iommu else None,
    )


def _reports_free_pages(guest: Guest) -> bool:
    """Memory that was given back must be faulted in again: not for guests tuned for latency."""
    cpu = guest.domain.cpu
    is_tuned = (
        guest.has_dedicated_cpus or guest.has_hugepages or bool(cpu and cpu.realtime is not None)
    )
    refused = guest.vmi.metadata.annotations.get(FREE_PAGE_REPORTING_DISABLED) == "true"
    return guest.facts.cluster.free_page_reporting and not is_tuned and not refused
