"""What KubeVirt itself writes into a domain, so that a restarted launcher knows whose guest it is."""

from msgspec import field

from kubevirt.virt.domain.xml.element import Element

KUBEVIRT = "http://kubevirt.io"
"""The namespace; a name, never an address to call."""


class GracePeriod(Element, frozen=True, kw_only=True):
    """How long the guest may take to shut down, and since when it was asked to."""

    namespace = KUBEVIRT

    deletion_grace_period_seconds: int | None = field(
        default=None, name="deletionGracePeriodSeconds"
    )
    deletion_timestamp: str | None = field(default=None, name="deletionTimestamp")
    marked_for_graceful_shutdown: str | None = field(default=None, name="markedForGracefulShutdown")
    """true once the launcher was told to end."""


class MemoryDump(Element, frozen=True, kw_only=True):
    """The last copy of the guest's memory, under way or over."""

    namespace = KUBEVIRT

    file_name: str | None = field(default=None, name="fileName")
    start_timestamp: str | None = field(default=None, name="startTimestamp")
    end_timestamp: str | None = field(default=None, name="endTimestamp")
    completed: str | None = None
    """true once it is over, well or not."""
    failed: str | None = None
    failure_reason: str | None = field(default=None, name="failureReason")


class Kubevirt(Element, frozen=True, kw_only=True):
    namespace = KUBEVIRT

    uid: str | None = None
    """Of the VMI: identity is never the name."""
    graceperiod: GracePeriod | None = None
    memory_dump: MemoryDump | None = field(default=None, name="memoryDump")


class Metadata(Element, frozen=True, kw_only=True):
    kubevirt: Kubevirt | None = None
