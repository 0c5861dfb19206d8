"""Who asks. Our own components may change what is theirs; everybody else may not.

The names of service accounts are those that Kubernetes authenticated, so nobody can claim one.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from kubevirt.api.core.reviews import UserInfo
from kubevirt.virt.install.options import NAMESPACE

COMPONENTS: Final = (
    "kubevirt-apiserver",
    "kubevirt-controller",
    "kubevirt-handler",
    "kubevirt-operator",
    "kubevirt-synchronization-controller",
)
HANDLER: Final = "kubevirt-handler"
NODE_NAME: Final = "authentication.kubernetes.io/node-name"
ADMINISTRATORS: Final = "system:masters"


class Requester(msgspec.Struct, frozen=True, kw_only=True):
    username: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = {}
    namespace: str = NAMESPACE
    """Where the components are installed: a service account of that name elsewhere is anybody's."""

    @classmethod
    def of(cls, user: UserInfo, namespace: str) -> "Requester":
        return cls(
            username=user.username or "",
            groups=user.groups,
            extra=user.extra,
            namespace=namespace,
        )

    @property
    def component(self) -> str | None:
        """The service account's name, if it is one of ours."""
        prefix = f"system:serviceaccount:{self.namespace}:"
        name = self.username.removeprefix(prefix)
        return name if self.username.startswith(prefix) and name in COMPONENTS else None

    @property
    def is_ours(self) -> bool:
        return self.component is not None

    @property
    def is_administrator(self) -> bool:
        """Who may break glass: take a finalizer away when no component is there to do it."""
        return ADMINISTRATORS in self.groups

    @property
    def node(self) -> str | None:
        """Where the pod runs whose token this is."""
        return next(iter(self.extra.get(NODE_NAME, ())), None)
