"""What users may do with machines: KubeVirt's cluster roles, right by right.

`kubevirt.io:admin`, `edit` and `view` add to Kubernetes' own roles of these names by label, so whoever may do something
in a namespace may do the same with the machines there. Nobody may start a migration by them; that is
`kubevirt.io:migrate`, which an administrator binds.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kubevirt.api.core.rbac import ClusterRole, ClusterRoleBinding, PolicyRule, RoleRef, Subject
from kubevirt.api.meta import ObjectMeta
from kubevirt.virt.commands.calls import GROUP as SUBRESOURCES
from kubevirt.virt.install.options import LABELS, Options

RBAC: Final = "rbac.authorization.k8s.io"
AUTHENTICATED: Final = "system:authenticated"

READ: Final = ("get", "list", "watch")
EDIT: Final = (*READ, "create", "update", "patch", "delete")
ALL: Final = (*EDIT, "deletecollection")

KINDS: Final[Mapping[str, Sequence[str]]] = {
    "kubevirt.io": (
        "virtualmachines",
        "virtualmachineinstances",
        "virtualmachineinstancepresets",
        "virtualmachineinstancereplicasets",
    ),
    "snapshot.kubevirt.io": (
        "virtualmachinesnapshots",
        "virtualmachinesnapshotcontents",
        "virtualmachinerestores",
    ),
    "backup.kubevirt.io": ("virtualmachinebackups", "virtualmachinebackuptrackers"),
    "export.kubevirt.io": ("virtualmachineexports",),
    "clone.kubevirt.io": ("virtualmachineclones",),
    "instancetype.kubevirt.io": (
        "virtualmachineinstancetypes",
        "virtualmachineclusterinstancetypes",
        "virtualmachinepreferences",
        "virtualmachineclusterpreferences",
    ),
    "pool.kubevirt.io": ("virtualmachinepools",),
}
"""Kinds that belong to whoever works in a namespace."""

ADMINISTERED: Final[Mapping[str, Sequence[str]]] = {"plugin.kubevirt.io": ("plugins",)}
"""Kinds that change how every guest is run."""

WATCHED: Final[Mapping[str, Sequence[str]]] = {
    "kubevirt.io": ("virtualmachineinstancemigrations",),
    "migrations.kubevirt.io": ("migrationpolicies",),
}
"""Kinds that all may look at and, by these roles, nobody may make."""

ASKED: Final = (
    "virtualmachines/expand-spec",
    "virtualmachines/objectgraph",
    "virtualmachineinstances/guestosinfo",
    "virtualmachineinstances/filesystemlist",
    "virtualmachineinstances/userlist",
    "virtualmachineinstances/objectgraph",
    "virtualmachineinstances/sev/fetchcertchain",
    "virtualmachineinstances/sev/querylaunchmeasurement",
)
"""What can be asked without touching the guest."""

ENTERED: Final = (
    "virtualmachines/portforward",
    "virtualmachineinstances/console",
    "virtualmachineinstances/vnc",
    "virtualmachineinstances/portforward",
    "virtualmachineinstances/usbredir",
)
"""Ways into the guest. A `get`, and still not for who may only look."""

PICTURED: Final = ("virtualmachineinstances/vnc/screenshot",)

CHANGED: Final = (
    "virtualmachines/start",
    "virtualmachines/stop",
    "virtualmachines/restart",
    "virtualmachines/addvolume",
    "virtualmachines/removevolume",
    "virtualmachines/memorydump",
    "virtualmachines/removememorydump",
    "virtualmachines/evacuate/cancel",
    "virtualmachineinstances/pause",
    "virtualmachineinstances/unpause",
    "virtualmachineinstances/addvolume",
    "virtualmachineinstances/removevolume",
    "virtualmachineinstances/freeze",
    "virtualmachineinstances/unfreeze",
    "virtualmachineinstances/softreboot",
    "virtualmachineinstances/reset",
    "virtualmachineinstances/sev/setupsession",
    "virtualmachineinstances/sev/injectlaunchsecret",
    "virtualmachineinstances/evacuate/cancel",
)

EXPANDED: Final = ("expand-vm-spec",)
"""A PUT, hence an update, that changes nothing: it answers with the machine it was sent, filled in."""


def objects(options: Options) -> Iterator[ClusterRole | ClusterRoleBinding]:
    yield _aggregated("admin", _admin(), options)
    yield _aggregated("edit", _edit(), options)
    yield _aggregated("view", _view(), options)
    yield _role("kubevirt.io:migrate", _migrate())
    for name, rules in (
        ("kubevirt.io:default", _default()),
        ("instancetype.kubevirt.io:view", _instancetypes()),
    ):
        yield _role(name, rules)
        yield _for_everybody(name)


def _admin() -> Iterator[PolicyRule]:
    yield _sub("get", (*ASKED, *ENTERED, *PICTURED))
    yield _sub("update", (*CHANGED, *EXPANDED))
    yield from _of(KINDS, ALL)
    yield from _of(ADMINISTERED, ALL)
    yield from _of(WATCHED, READ)


def _edit() -> Iterator[PolicyRule]:
    yield _sub("get", (*ASKED, *ENTERED))
    yield _sub("update", (*CHANGED, *EXPANDED))
    yield from _of(KINDS, EDIT)
    yield from _of(WATCHED, READ)
    yield _installation()


def _view() -> Iterator[PolicyRule]:
    yield _sub("get", ASKED)
    yield _sub("update", EXPANDED)
    yield from _of(KINDS, READ)
    yield from _of(WATCHED, READ)


def _migrate() -> Iterator[PolicyRule]:
    yield _sub("update", ("virtualmachines/migrate",))
    yield _rule("kubevirt.io", ("virtualmachineinstancemigrations",), ALL)


def _default() -> Iterator[PolicyRule]:
    yield _rule(SUBRESOURCES, ("version", "guestfs"), ("get", "list"))
    yield _installation()


def _instancetypes() -> Iterator[PolicyRule]:
    kinds = ("virtualmachineclusterinstancetypes", "virtualmachineclusterpreferences")
    yield _rule("instancetype.kubevirt.io", kinds, READ)


def _installation() -> PolicyRule:
    return _rule("kubevirt.io", ("kubevirts",), ("get", "list"))


def _of(kinds: Mapping[str, Sequence[str]], verbs: Sequence[str]) -> Iterator[PolicyRule]:
    return (_rule(group, resources, verbs) for group, resources in kinds.items())


def _sub(verb: str, resources: Sequence[str]) -> PolicyRule:
    return _rule(SUBRESOURCES, resources, (verb,))


def _rule(group: str, resources: Sequence[str], verbs: Sequence[str]) -> PolicyRule:
    return PolicyRule(api_groups=(group,), resources=tuple(resources), verbs=tuple(verbs))


def _aggregated(name: str, rules: Iterator[PolicyRule], options: Options) -> ClusterRole:
    label = {f"{RBAC}/aggregate-to-{name}": "true"} if options.aggregates else {}
    return _role(f"kubevirt.io:{name}", rules, label)


def _role(
    name: str, rules: Iterator[PolicyRule], labels: Mapping[str, str] | None = None
) -> ClusterRole:
    return ClusterRole(
        api_version=f"{RBAC}/v1",
        kind="ClusterRole",
        metadata=ObjectMeta(name=name, labels={**LABELS, **(labels or {})}),
        rules=tuple(rules),
    )


def _for_everybody(name: str) -> ClusterRoleBinding:
    """Who is known by name. Whoever is not gets nothing."""
    return ClusterRoleBinding(
        api_version=f"{RBAC}/v1",
        kind="ClusterRoleBinding",
        metadata=ObjectMeta(name=name, labels=LABELS),
        role_ref=RoleRef(api_group=RBAC, kind="ClusterRole", name=name),
        subjects=(Subject(api_group=RBAC, kind="Group", name=AUTHENTICATED),),
    )
