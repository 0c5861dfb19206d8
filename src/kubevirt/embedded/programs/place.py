"""Where the programs are: what a home has for them."""

from collections.abc import Callable, Sequence

import msgspec

from kubevirt.apiserver.callees.callees import Callees
from kubevirt.base.clock import Clock
from kubevirt.embedded.home import Home
from kubevirt.embedded.network.networks import Networks
from kubevirt.embedded.process.identities import Identities


class Place(msgspec.Struct, frozen=True, kw_only=True):
    home: Home
    url: str
    """Of the API server."""
    known: Identities
    callees: Callees
    networks: Networks
    nodes: Sequence[str]
    clock: Clock
    set_verbosity: Callable[[int], None]
    """Of the log, which all of them share."""
