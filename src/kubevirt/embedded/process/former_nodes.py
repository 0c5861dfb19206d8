"""Nodes that the home had when it was last up, and does not have any more: `--nodes 2`, and then `--nodes 1`.

Their pods go with them, at once and before anybody looks: no node will ever see to their end. Nodes that others made
are left alone: ours have a folder.
"""

from collections.abc import Sequence
from contextlib import suppress

from kubevirt.api.scheme import NODES, PODS
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.embedded.home import Home
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound

log = get_logger(__name__)


def names(home: Home, nodes: Sequence[str]) -> list[str]:
    """Nothing of theirs runs: whoever brings up fewer nodes than died is refused, or the machine restarted."""
    return sorted(each.name for each in home.nodes.iterdir() if each.name not in nodes)


async def dismiss(home: Home, former: Sequence[str], client: Client) -> None:
    """Leases go with their nodes. The folders are the last to go: what is cut short is done by the next start."""
    for name in former:
        found = await client.list(PODS, field_selector=f"spec.nodeName={name}")
        for pod in found.items:
            with suppress(NotFound):
                await client.delete(
                    PODS, pod.metadata.name, pod.metadata.namespace, grace_period_s=0
                )
        with suppress(NotFound):
            await client.delete(NODES, name)
        with Root.open(home.nodes) as root:
            root.remove_tree(name)
        log.info("node is not part of the home any more", node=name, pods=len(found.items))
