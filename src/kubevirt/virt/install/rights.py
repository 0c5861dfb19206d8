"""What our own programs may do in the API, each right with its reason.

A right that nobody can give a reason for is not here. None may read a Secret: what a guest needs of one is mounted into
its pod by the kubelet. Launchers are not here at all: they hold no identity of ours, and their pods no token.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from kubevirt.api.core.namespace import ServiceAccount
from kubevirt.api.core.rbac import (
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    Role,
    RoleBinding,
    RoleRef,
    Subject,
)
from kubevirt.api.meta import ObjectMeta
from kubevirt.virt.install.options import LABELS, Options
from kubevirt.virt.install.people import RBAC, READ

API: Final = "kubevirt-apiserver"
CONTROLLER: Final = "kubevirt-controller"
HANDLER: Final = "kubevirt-handler"

_AUTHENTICATION_READER: Final = "extension-apiserver-authentication-reader"
_SYSTEM: Final = "kube-system"
_FINALIZE: Final = (
    "to be the owner that blocks deletion, where the server asks owners for that right"
)


class Right(msgspec.Struct, frozen=True):
    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    because: str

    @property
    def rule(self) -> PolicyRule:
        return PolicyRule(api_groups=(self.group,), resources=self.resources, verbs=self.verbs)


class Program(msgspec.Struct, frozen=True, kw_only=True):
    account: str
    everywhere: Sequence[Right]
    at_home: Sequence[Right]
    """In the namespace of the installation only."""


_FOLLOW: Final = ("list", "watch")
_SETTINGS: Final = Right(
    "kubevirt.io",
    ("kubevirts",),
    _FOLLOW,
    "the settings of the moment stand in the KubeVirt object",
)
_EVENTS: Final = Right(
    "", ("events",), ("create", "patch"), "what happens is told to who looks at the object"
)

PROGRAMS: Final = (
    Program(
        account=API,
        everywhere=(
            Right(
                "authorization.k8s.io",
                ("subjectaccessreviews",),
                ("create",),
                "each call of a user is held against that user's own rights",
            ),
            Right(
                "kubevirt.io",
                ("virtualmachines",),
                ("get", "patch"),
                "start and stop change the run strategy of a machine",
            ),
            Right(
                "kubevirt.io",
                ("virtualmachines/status",),
                ("patch",),
                "start, stop and restart of a Manual machine are requests in its status",
            ),
            Right(
                "kubevirt.io",
                ("virtualmachineinstances",),
                ("get", "patch"),
                "where a guest runs; a stop with a grace period of its own sets it there",
            ),
            Right(
                "",
                ("pods",),
                ("list",),
                "where a node's virt-handler and a guest are: addresses of their pods",
            ),
            Right(
                "",
                ("nodes",),
                ("get",),
                "where virt-handler is no pod, its node's address leads to it",
            ),
        ),
        at_home=(_SETTINGS,),
    ),
    Program(
        account=CONTROLLER,
        everywhere=(
            Right(
                "kubevirt.io",
                ("virtualmachines",),
                (*READ, "patch"),
                "machines are followed; finalizers and the run strategy are written",
            ),
            Right(
                "kubevirt.io",
                ("virtualmachines/status",),
                ("patch",),
                "how a machine is stands in its status",
            ),
            Right(
                "kubevirt.io",
                ("virtualmachineinstances",),
                (*READ, "create", "patch", "delete"),
                "a machine's guest is made and ended as its run strategy says",
            ),
            Right(
                "kubevirt.io",
                ("virtualmachines/finalizers", "virtualmachineinstances/finalizers"),
                ("update",),
                _FINALIZE,
            ),
            Right(
                "",
                ("events",),
                ("list", "watch"),
                "that a launcher's volumes cannot be had is said in events, and nowhere else",
            ),
            Right(
                "",
                ("pods",),
                (*READ, "create", "delete"),
                "each guest has a launcher's pod",
            ),
            Right(
                "",
                ("pods/status",),
                ("patch",),
                "the readiness gate of a pod tells whether its guest is paused",
            ),
            Right(
                "apps",
                ("controllerrevisions",),
                (*READ, "create", "delete"),
                "what a guest was started from is kept for as long as it runs",
            ),
            Right(
                "",
                ("persistentvolumeclaims",),
                READ,
                "a guest waits for its claims; they tell whether it could migrate",
            ),
            Right(
                "",
                ("nodes",),
                (*_FOLLOW, "patch"),
                "a node whose virt-handler is silent gets no more guests: its label says so",
            ),
            _EVENTS,
        ),
        at_home=(
            _SETTINGS,
            Right(
                "coordination.k8s.io",
                ("leases",),
                ("get", "create", "patch"),
                "one of several leads",
            ),
        ),
    ),
    Program(
        account=HANDLER,
        everywhere=(
            Right(
                "kubevirt.io",
                ("virtualmachineinstances",),
                (*_FOLLOW, "patch"),
                "from Scheduled on the status of a node's guests is its virt-handler's; "
                "admission holds it to that node",
            ),
            Right(
                "",
                ("nodes",),
                ("patch",),
                "heartbeat and labels of its node; admission holds it to that node",
            ),
            _EVENTS,
        ),
        at_home=(_SETTINGS,),
    ),
)


def objects(
    options: Options,
) -> Iterator[ServiceAccount | ClusterRole | Role | ClusterRoleBinding | RoleBinding]:
    for program in PROGRAMS:
        account, home = program.account, options.namespace
        yield ServiceAccount(
            api_version="v1",
            kind="ServiceAccount",
            metadata=ObjectMeta(name=account, namespace=home, labels=LABELS),
        )
        yield ClusterRole(
            api_version=f"{RBAC}/v1",
            kind="ClusterRole",
            metadata=ObjectMeta(name=account, labels=LABELS),
            rules=tuple(right.rule for right in program.everywhere),
        )
        yield Role(
            api_version=f"{RBAC}/v1",
            kind="Role",
            metadata=ObjectMeta(name=account, namespace=home, labels=LABELS),
            rules=tuple(right.rule for right in program.at_home),
        )
        yield ClusterRoleBinding(
            api_version=f"{RBAC}/v1",
            kind="ClusterRoleBinding",
            metadata=ObjectMeta(name=account, labels=LABELS),
            role_ref=RoleRef(api_group=RBAC, kind="ClusterRole", name=account),
            subjects=(_subject(account, home),),
        )
        yield _bound(account, account, account, home, home)
    # virt-api believes the front proxy alone, and reads there how to know it.
    yield _bound(f"{API}-authentication", _AUTHENTICATION_READER, API, _SYSTEM, options.namespace)


def _bound(name: str, role: str, account: str, namespace: str, home: str) -> RoleBinding:
    """`home` is where the account is, `namespace` where the role is and holds."""
    return RoleBinding(
        api_version=f"{RBAC}/v1",
        kind="RoleBinding",
        metadata=ObjectMeta(name=name, namespace=namespace, labels=LABELS),
        role_ref=RoleRef(api_group=RBAC, kind="Role", name=role),
        subjects=(_subject(account, home),),
    )


def _subject(account: str, namespace: str) -> Subject:
    return Subject(kind="ServiceAccount", name=account, namespace=namespace)
