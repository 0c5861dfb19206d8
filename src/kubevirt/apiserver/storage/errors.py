"""What can go wrong in the store.

KubevirtError
├── Conflict              the key is not what the writer thought; `current` is what it is
├── Compacted             that revision is no longer kept: list again        (410 above)
├── ValueTooLarge         more than a key may hold
├── UserError
│   └── StoreUnusable     cannot be opened: in use, too new, damaged, no store of ours
└── Retry
├── FutureRevision    that revision has not happened yet
├── WatcherTooSlow    it did not take its events; watch again from where it was
├── StoreClosed       it is being shut down
├── StoreFull         no room for a write; reads go on
└── StoreFailed       the disk refused; `is_final` if only a restart can help
"""

from kubevirt.apiserver.storage.records import Entry
from kubevirt.base.errors import KubevirtError, Retry, UserError


class Conflict(KubevirtError):  # noqa: N818  # Kubernetes' word
    """A precondition did not hold when the write was decided; nothing was written."""

    def __init__(self, key: str, current: Entry | None) -> None:
        now = f"is at revision {current.revision}" if current else "does not exist"
        super().__init__(f"{key} {now}, which is not what this write was made for")
        self.key = key
        self.current = current
        """The key's state in that moment; None if there is nothing."""


class Compacted(KubevirtError):  # noqa: N818  # etcd's word
    def __init__(self, revision: int, oldest: int) -> None:
        super().__init__(f"revision {revision} is no longer kept; the oldest is {oldest}")
        self.revision = revision
        self.oldest = oldest


class ValueTooLarge(KubevirtError):  # noqa: N818  # it is what the value is
    def __init__(self, key: str, size: int, limit: int) -> None:
        super().__init__(f"the value of {key} has {size} bytes; {limit} are the most")


class StoreUnusable(UserError):  # noqa: N818  # it is what the store is
    """Nothing was touched."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="StoreUnusable")


class FutureRevision(Retry):
    def __init__(self, revision: int, current: int) -> None:
        super().__init__(f"revision {revision} has not happened yet; the newest is {current}")
        self.revision = revision
        self.current = current


class WatcherTooSlow(Retry):
    def __init__(self, prefix: str, revision: int) -> None:
        super().__init__(
            f"the watch of {prefix} did not take its events and was cut after revision {revision}"
        )
        self.revision = revision
        """The last that it was told; another watch may begin there."""


class StoreClosed(Retry):
    def __init__(self) -> None:
        super().__init__("the store is being shut down")


class StoreFull(Retry):
    pass


class StoreFailed(Retry):
    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final
