"""What can go wrong between us and a machine's network.

Retry
├── NetworkFailed        the kernel did not do what was asked
│   └── NetworkDiffers   it did, and something else is there afterwards
└── NamespaceGone        the namespace ended, mostly with the pod it belonged to
UserError
└── NetworkNotAllowed    we lack the rights
"""

import errno
import os
from collections.abc import Sequence
from typing import Final

from kubevirt.base.errors import KubevirtError, Retry, UserError

_FORBIDDEN: Final = (errno.EPERM, errno.EACCES)


class NetworkFailed(Retry):  # it is what happened; the tree's names tell facts
    """The kernel refused a change, for a reason that may pass."""


class NetworkDiffers(NetworkFailed):
    """Somebody else changes the same things, or the kernel understands them differently."""

    def __init__(self, differences: Sequence[str]) -> None:
        super().__init__(
            f"the network is not as it was just made: {'; '.join(differences)}; another program "
            f"seems to change it too"
        )
        self.differences = tuple(differences)


class NamespaceGone(Retry):  # it is what happened to the namespace
    """There is no such network namespace, or no longer."""


class NetworkNotAllowed(UserError):  # noqa: N818  # it is what the kernel said
    """Networks are changed by root only."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} is not permitted; it needs root, with the capabilities NET_ADMIN and SYS_ADMIN",
            reason="NetworkNotAllowed",
        )


def refused(what: str, number: int | None) -> KubevirtError:
    """The error for a call that the kernel refused; `what` is a noun phrase."""
    if number in _FORBIDDEN:
        return NetworkNotAllowed(what)
    return NetworkFailed(f"{what} failed: {os.strerror(number or 0)}")
