"""What a pod's resolver is told: /etc/resolv.conf by the pod's DNS policy. Pure.

As kubelet writes it: search, nameservers, options; at most three servers, since libc asks no more.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from kubevirt.api.core.dns import PodDNSConfig
from kubevirt.api.core.pod import Pod

MOST_SERVERS: Final = 3
MOST_DOMAINS: Final = 32
MOST_CHARACTERS: Final = 2048
"""Of all search domains together."""
_OF_CLUSTER: Final = ("ndots:5",)


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """Whom the machine itself asks."""

    servers: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    server: str
    domain: str


def text(pod: Pod, cluster: Cluster, machine: Machine) -> str:
    servers, domains, options = _by_policy(pod, cluster, machine)
    added = (pod.spec.dns_config if pod.spec else None) or PodDNSConfig()
    servers = _once([*servers, *added.nameservers])[:MOST_SERVERS]
    domains = _limited(_once([*domains, *added.searches]))
    options = _merged(options, added)
    lines = [
        f"search {' '.join(domains)}" if domains else "",
        *(f"nameserver {each}" for each in servers),
        f"options {' '.join(options)}" if options else "",
    ]
    return "".join(f"{line}\n" for line in lines if line)


def _by_policy(pod: Pod, cluster: Cluster, machine: Machine) -> tuple[list[str], ...]:
    spec = pod.spec
    policy = (spec.dns_policy if spec else None) or "ClusterFirst"
    if policy == "None":
        return [], [], []
    is_of_cluster = policy == "ClusterFirstWithHostNet" or (
        policy == "ClusterFirst" and not (spec and spec.host_network)
    )
    if not is_of_cluster:
        return list(machine.servers), list(machine.domains), list(machine.options)
    domain = cluster.domain
    own = [f"{pod.metadata.namespace or 'default'}.svc.{domain}", f"svc.{domain}", domain]
    return [cluster.server], [*own, *machine.domains], list(_OF_CLUSTER)


def _merged(options: list[str], added: PodDNSConfig) -> list[str]:
    """An option of the pod's own takes the place of one by the same name."""
    own = {each.name: each.value for each in added.options if each.name}
    kept = [each for each in options if each.partition(":")[0] not in own]
    return [*kept, *(f"{name}:{value}" if value else name for name, value in own.items())]


def _once(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _limited(domains: list[str]) -> list[str]:
    kept: list[str] = []
    for each in domains[:MOST_DOMAINS]:
        if len(" ".join([*kept, each])) > MOST_CHARACTERS:
            break
        kept.append(each)
    return kept
