"""What planning must know of a pod's network, read from its namespace and its resolv.conf."""

from collections.abc import Mapping

from kubevirt.host.net.errors import NetworkFailed
from kubevirt.host.net.kernel import Kernel, Seen
from kubevirt.host.net.netns import Namespace
from kubevirt.host.net.resolver import Resolver
from kubevirt.virt.network.facts import PodFacts, PodLink
from kubevirt.virt.network.names import moved_link

NO_RESOLVER = Resolver()


async def read_pod(
    namespace: Namespace,
    resolver: Resolver = NO_RESOLVER,
    *,
    owner: int = 107,
    istio: bool = False,
    vhost_net: bool = False,
) -> PodFacts:
    """The pod as its CNI plugin left it. Read it before the first plan is applied, and keep it."""
    links = await read_links(namespace)
    moved = next((name for name in links if moved_link(name) in links), None)
    if moved is not None:
        raise NetworkFailed(
            f"the pod's link {moved} was moved aside for a guest already, so what it was before is "
            f"not to be seen any more; use the facts that were kept then"
        )
    return PodFacts(
        links=links,
        nameservers=resolver.nameservers,
        search_domains=resolver.search_domains,
        owner=owner,
        istio=istio,
        vhost_net=vhost_net,
    )


async def read_links(namespace: Namespace) -> Mapping[str, PodLink]:
    """The links as they are now, but for the loopback."""
    return await namespace.run(_read_links)


def _read_links() -> Mapping[str, PodLink]:
    with Kernel() as kernel:
        return {link.name: _pod_link(kernel, link) for link in kernel.links() if link.name != "lo"}


def _pod_link(kernel: Kernel, link: Seen) -> PodLink:
    return PodLink(
        name=link.name,
        mac=link.mac,
        mtu=link.mtu,
        addresses=tuple(map(str, kernel.addresses(link))),
        routes=kernel.routes(link),
    )
