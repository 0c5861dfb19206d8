"""Why a callee was not reached.

Unreachable                   (of the house)
└── CalleeAway                nobody answers, or nobody whom we trust
    └── NoAddress             its Service leads nowhere
"""

from kubevirt.base.errors import Unreachable


class CalleeAway(Unreachable):
    """The message is Go's, as far as it can be known."""


class NoAddress(CalleeAway):
    """`kind` tells what is missing, for whoever watches over availability."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind
