"""The network of one node, as its pods worker knows it: a namespace and an address for each pod."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.api.core.pod import Pod
from kubevirt.base.errors import KubevirtError
from kubevirt.embedded.network import resolv_conf
from kubevirt.embedded.network.cables import USUAL_SWITCHES
from kubevirt.embedded.network.leases import NoFreeAddress
from kubevirt.embedded.network.switchboard import Switchboard
from kubevirt.embedded.node.neighbours import NotNow, PodNetwork
from kubevirt.host.net import resolver

REASON: Final = "FailedCreatePodSandBox"
SAFE_SWITCHES: Final = frozenset(
    {
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_wmem",
    }
)
"""Settings that a pod may ask for, by Kubernetes' list of those that do not reach beyond it."""
_LIMIT: Final = 65536


class NodeNetwork:
    def __init__(self, switchboard: Switchboard, name: str, trouble: Callable[[], str]) -> None:
        self._switchboard = switchboard
        self._name = name
        self._trouble = trouble

    @property
    def address(self) -> str:
        """Of the node itself, as pods and the API server reach it."""
        return str(self._switchboard.settings.node_address(self._name))

    @property
    def namespace(self) -> str:
        """A file that stands for the node's own; empty for the machine's."""
        path = self._switchboard.node_path(self._name)
        return str(path) if path else ""

    @property
    def trouble(self) -> str:
        return self._trouble()

    async def set_up(self, pod: Pod) -> PodNetwork:
        spec = pod.spec
        if spec and spec.host_network:
            return PodNetwork(
                namespace=self.namespace,
                addresses=(self.address,),
                resolver=self._resolver(pod, is_machines=not self.namespace),
            )
        try:
            path, address = await self._switchboard.connect(
                self._name,
                pod.metadata.uid,
                f"{pod.metadata.namespace}/{pod.metadata.name}",
                _switches(pod),
            )
        except NoFreeAddress as error:
            raise NotNow(
                REASON,
                f"Failed to create pod sandbox: there is no free address for the pod: {error}; delete pods "
                "that are not needed any more",
            ) from None
        except (KubevirtError, OSError) as error:
            raise NotNow(REASON, f"Failed to create pod sandbox: {error}") from error
        return PodNetwork(
            namespace=str(path),
            addresses=(str(address),),
            resolver=self._resolver(pod, is_machines=False),
        )

    async def tear_down(self, uid: str) -> None:
        await self._switchboard.disconnect(uid)

    def _resolver(self, pod: Pod, *, is_machines: bool) -> str:
        settings = self._switchboard.settings
        cluster = resolv_conf.Cluster(server=str(settings.dns_address), domain=settings.domain)
        machine = _machine(settings.resolver_files, is_machines=is_machines)
        if not machine.servers:
            # Where nobody can be asked from here, our own asks the machine's for everybody.
            machine = msgspec.structs.replace(machine, servers=(cluster.server,))
        return resolv_conf.text(pod, cluster, machine)


def _switches(pod: Pod) -> dict[str, str]:
    context = pod.spec.security_context if pod.spec else None
    asked = {each.name: each.value for each in (context.sysctls if context else ())}
    own = {name.replace(".", "/"): value for name, value in asked.items() if name in SAFE_SWITCHES}
    return {**USUAL_SWITCHES, **own}


def _machine(files: Sequence[Path], *, is_machines: bool) -> resolv_conf.Machine:
    """Whom the machine asks. From elsewhere than the machine itself, nobody on its loopback answers."""
    for file in files:
        with suppress(OSError):
            text = file.read_text(encoding="utf-8", errors="replace")[:_LIMIT]
            found = resolver.parse(text)
            if not is_machines and not found.is_reachable:
                continue
            reachable = found if is_machines else found.without_loopback()
            return resolv_conf.Machine(
                servers=reachable.nameservers,
                domains=reachable.search_domains,
                options=resolver.options(text),
            )
    return resolv_conf.Machine()
