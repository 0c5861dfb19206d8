"""Who is who in an embedded home: one authority, and a certificate for everybody who asks or is asked.

All of it lies in the home's `pki` folder, is made when it is missing, and renewed when it is due. The parts of
this process have identities of their own, as the programs of a cluster have: none can do more here than
there.
"""

import secrets
from collections.abc import Mapping, Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Final

from kubevirt.apiserver.auth.access import AccessSettings
from kubevirt.apiserver.auth.authority import Wanted
from kubevirt.apiserver.auth.folder import TrustFolder
from kubevirt.apiserver.auth.serving_certificate import (
    AUTHORITY,
    LOOK_EVERY_S,
    ServingCertificate,
)
from kubevirt.apiserver.callees.callee import ClientFiles
from kubevirt.apiserver.registry.identity import Identity
from kubevirt.base.clock import Clock
from kubevirt.base.errors import UserError
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.components.handler.settings import CLIENT as HANDLERS_CLIENT
from kubevirt.kube.access.config import Config
from kubevirt.kube.access.credentials import HeldCredentials
from kubevirt.kube.access.material import File, Inline
from kubevirt.virt.install import rights
from kubevirt.virt.install.options import NAMESPACE
from kubevirt.virt.validate.requester import NODE_NAME

log = get_logger(__name__)

ADMINISTRATOR: Final = "admin"
CONTROLLERS: Final = "controllers"
NETWORK: Final = "network"
NODE_CONTROLLER: Final = "node-controller"
SCHEDULER: Final = "scheduler"
STORAGE: Final = "storage"
KUBELET_CLIENT: Final = "apiserver-kubelet-client"
INSTALLER: Final = "installer"
VIRT_API: Final = "virt-api"
VIRT_API_CALLING: Final = "virt-api-calling"
"""What virt-api shows to virt-handlers."""
VIRT_API_SERVING: Final = "virt-api-serving"
VIRT_CONTROLLER: Final = "virt-controller"
VIRT_CONTROLLER_SERVING: Final = "virt-controller-serving"
VIRT_HANDLER_SERVING: Final = "virt-handler-serving"
"""What virt-handlers show to virt-api."""

_MASTERS: Final = "system:masters"
_ACCOUNT: Final = f"system:serviceaccount:{NAMESPACE}:"
_ACCOUNTS: Final = ("system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}")
_CLIENTS: Final = {
    ADMINISTRATOR: Wanted.client("kubernetes-admin", [_MASTERS]),
    CONTROLLERS: Wanted.client("system:kube-controller-manager"),
    NODE_CONTROLLER: Wanted.client(
        "system:serviceaccount:kube-system:node-controller",
        ["system:serviceaccounts", "system:serviceaccounts:kube-system"],
    ),
    SCHEDULER: Wanted.client("system:kube-scheduler"),
    # Kubernetes has no roles for these two: they do the work of controllers that run as the cluster.
    NETWORK: Wanted.client("kubevirt.io:embedded-network", [_MASTERS]),
    STORAGE: Wanted.client("kubevirt.io:embedded-storage", [_MASTERS]),
    KUBELET_CLIENT: Wanted.client("kube-apiserver-kubelet-client", [_MASTERS]),
    # It does the work of virt-operator, who gives rights to others and so has to have all of them.
    INSTALLER: Wanted.client("kubevirt.io:embedded-installer", [_MASTERS]),
    VIRT_API: Wanted.client(_ACCOUNT + rights.API, _ACCOUNTS),
    VIRT_CONTROLLER: Wanted.client(_ACCOUNT + rights.CONTROLLER, _ACCOUNTS),
    VIRT_API_CALLING: Wanted.client(HANDLERS_CLIENT),
    VIRT_HANDLER_SERVING: Wanted.server("virt-handler", [f"virt-handler.{NAMESPACE}.svc"]),
    VIRT_API_SERVING: Wanted.server("virt-api", [f"virt-api.{NAMESPACE}.svc"]),
    VIRT_CONTROLLER_SERVING: Wanted.server("virt-controller", [f"virt-controller.{NAMESPACE}.svc"]),
}
_PROXIES: Final = "front-proxy-ca"
_PROXY: Final = "front-proxy-client"
_OWN_NAMES: Final = (
    "127.0.0.1",
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)


class Identities:
    """What is in the folder, made complete."""

    def __init__(
        self,
        folder: Path,
        root: Root,
        services: str,
        clock: Clock,
        *,
        nodes: Mapping[str, Sequence[str]],
    ) -> None:
        """`root` is the same folder, opened, and stays so. `services` is where the server's own Service
        has its address; `nodes` have theirs, by name.
        """
        self._folder = folder
        self._trust = TrustFolder(root, str(folder))
        self._clock = clock
        self._nodes = nodes
        self._tokens = {handler_of(name): secrets.token_urlsafe(32) for name in nodes}
        hosts = (*_OWN_NAMES, str(next(ip_network(services).hosts())))
        wanted = Wanted.server("kube-apiserver", hosts)
        self.serving = ServingCertificate(self._trust, folder, wanted, clock)
        self.authority: bytes = self.serving.authority.pair.certificate
        self.proxy_authority: bytes = self._issue()
        # Proxies are let in by TLS, too; what they may say is decided behind it.
        self.serving.context.load_verify_locations(cadata=self.proxy_authority.decode())

    def _issue(self) -> bytes:
        """Whatever is missing or due. Who signs for proxies."""
        now, authority = self._clock.now(), self.serving.authority
        for name, wanted in _CLIENTS.items():
            self._trust.certificate(name, wanted, authority, now)
        for name, addresses in self._nodes.items():
            wanted = Wanted.node(name, (name, *addresses))
            self._trust.certificate(of_node(name), wanted, authority, now)
        proxies = self._trust.authority(_PROXIES, _PROXIES, now)
        self._trust.certificate(_PROXY, Wanted.client(_PROXY), proxies, now)
        return proxies.pair.certificate

    async def run(self) -> None:
        """Renews them in time; the server's own is renewed by the server."""
        while True:
            await self._clock.sleep(LOOK_EVERY_S)
            try:
                self._issue()
            except (OSError, UserError) as error:
                # A full disk, say. There is a third of their life left to mend it.
                log.warning("certificates could not be renewed", error=error)

    @property
    def access(self) -> AccessSettings:
        return AccessSettings(
            signing_key=self._trust.signing_key(),
            client_authorities=(self.authority,),
            front_proxy_authorities=(self.proxy_authority,),
            known_tokens={self._tokens[handler_of(name)]: _handler(name) for name in self._nodes},
        )

    @property
    def authority_file(self) -> Path:
        """Who has signed all of them."""
        return self._folder / f"{AUTHORITY}.crt"

    @property
    def proxy(self) -> ClientFiles:
        return self.files(_PROXY)

    @property
    def administrator(self) -> tuple[bytes, bytes]:
        """Certificate and key, PEM."""
        pair = self._trust.read(ADMINISTRATOR)
        assert pair is not None  # noqa: S101  # issued above
        return pair.certificate, pair.key

    def files(self, name: str) -> ClientFiles:
        return ClientFiles(str(self._folder / f"{name}.crt"), str(self._folder / f"{name}.key"))

    def config(self, name: str, url: str) -> Config:
        """How one of them asks the server. Files are read again when they are renewed."""
        return Config(
            server=url,
            ca=File(self.authority_file, "certificate authority of the home,"),
            credentials=self._credentials(name),
            origin=f"the embedded home {self._folder.parent}",
        )

    def user(self, name: str) -> Mapping[str, str]:
        """The same for a program that is told by a kubeconfig: its user there."""
        if token := self._tokens.get(name):
            return {"token": token}
        files = self.files(name)
        return {"client-certificate": files.certificate, "client-key": files.key}

    def _credentials(self, name: str) -> HeldCredentials:
        if token := self._tokens.get(name):
            return HeldCredentials(token=Inline(token.encode(), f"token of {name}"))
        return HeldCredentials(
            certificate=File(self._folder / f"{name}.crt", f"certificate of {name},"),
            key=File(self._folder / f"{name}.key", f"key of {name},"),
        )


def _handler(node: str) -> Identity:
    """As its pod's token would have it, with the node that the pod is on: a certificate cannot say that."""
    return Identity(user=_ACCOUNT + rights.HANDLER, groups=_ACCOUNTS, extra={NODE_NAME: (node,)})


def handler_of(node: str) -> str:
    """A node's virt-handler. It has a token, for as long as the process lives."""
    return f"virt-handler-{node}"


def of_node(name: str) -> str:
    """Its certificate is good for both: to ask the server, and to be asked by it."""
    return f"node-{name}"
