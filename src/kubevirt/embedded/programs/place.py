"""Where the programs are: what a home has for them."""

from collections.abc import Callable, Sequence
from pathlib import Path

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
    """Of the home's log, which all of them share that are tasks of its process."""

    def kubelet(self, node: str) -> Path:
        """What a kubelet's folder is on that node."""
        return self.home.node(node) / "root/var/lib/kubelet"

    def handlers_records(self, node: str) -> Path:
        """The same for every virt-handler of the node, however it is run: the next one finds its guests there."""
        return self.home.node(node) / "virt-handler"
