"""How patient the controllers of nodes are."""

import msgspec


class NodeSettings(msgspec.Struct, frozen=True, kw_only=True):
    grace_s: float = 40.0
    """Without a sign of life for so long, nobody knows how a node is: four leases that were not renewed."""
    first_grace_s: float = 60.0
    """The same for a node that has never said how it is: it may be starting."""
    quarantine_s: float = 40.0
    """For so long pods of a node that is gone are left alone: it may only be registering anew."""
