"""Which questions of admission virt-api answers, and where: a table, and the objects made from it.

    mutating(reach), validating(reach)      # `reach` says how the API server comes to a path

The names and paths are KubeVirt's, so that whoever looks for one finds it. virt-api serves what is
here (`components/virtapi/admission`), and an installation registers what is here; neither imports the other.
Kinds that nobody acts on yet are in it, too: their creation is refused with a sentence
(`validate/missing.py`).
"""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from kubevirt.api.core.admission import (
    MatchCondition,
    MutatingWebhook,
    MutatingWebhookConfiguration,
    RuleWithOperations,
    ValidatingWebhook,
    ValidatingWebhookConfiguration,
    WebhookClientConfig,
)
from kubevirt.api.definitions import DEFINITIONS
from kubevirt.api.meta import ObjectMeta
from kubevirt.virt.validate.requester import HANDLER

MUTATOR: Final = "virt-api-mutator"
VALIDATOR: Final = "virt-api-validator"
TIMEOUT_S: Final = 10
ADVICE_S: Final = 2

CREATE: Final = "CREATE"
UPDATE: Final = "UPDATE"

Reach = Callable[[str], WebhookClientConfig]
"""How the API server comes to a path of virt-api's."""


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """One webhook: its name ends with the group of what it is asked about."""

    name: str
    path: str
    resources: tuple[str, ...]
    """Plural and group, with a subresource between them: `virtualmachines/status.kubevirt.io`. Kubernetes' own first
    group has no name: `nodes`.
    """
    operations: tuple[str, ...] = (CREATE,)
    is_advice: bool = False
    """It never refuses, so nobody has to wait for it: what it would say is left unsaid."""
    only_for: str = ""
    """Who is asked about: all, or those of whom this CEL expression holds. Others do not even need virt-api to be there."""

    @property
    def rules(self) -> tuple[RuleWithOperations, ...]:
        return tuple(self._rule(each) for each in self.resources)

    def _rule(self, resource: str) -> RuleWithOperations:
        plural, _, group = resource.partition(".")
        return RuleWithOperations(
            api_groups=(group,),
            api_versions=_versions(f"{plural.partition('/')[0]}.{group}") if group else ("v1",),
            operations=self.operations,
            resources=(plural,),
        )


def _versions(name: str) -> tuple[str, ...]:
    definition = next(each for each in DEFINITIONS if each.name == name)
    return tuple(each.name for each in definition.versions)


MACHINES: Final = "virtualmachines.kubevirt.io"
INSTANCES: Final = "virtualmachineinstances.kubevirt.io"
KUBEVIRTS: Final = "kubevirts.kubevirt.io"
NODES: Final = "nodes"
BY_HANDLERS: Final = (
    f"request.userInfo.username.startsWith('system:serviceaccount:') && "
    f"request.userInfo.username.endsWith(':{HANDLER}')"
)
"""kubelets and all others write nodes as ever."""

MUTATE_MACHINE: Final = "/virtualmachines-mutate"
MUTATE_INSTANCE: Final = "/virtualmachineinstances-mutate"
VALIDATE_MACHINE: Final = "/virtualmachines-validate"
VALIDATE_NEW_INSTANCE: Final = "/virtualmachineinstances-validate-create"
VALIDATE_CHANGED_INSTANCE: Final = "/virtualmachineinstances-validate-update"
VALIDATE_STATUS: Final = "/status-validate"
VALIDATE_NODE: Final = "/nodes-validate-update"
VALIDATE_NEW_KUBEVIRT: Final = "/kubevirt-validate-create"
VALIDATE_CHANGED_KUBEVIRT: Final = "/kubevirt-validate-update"

MUTATING: Final = (
    Hook(
        name="virtualmachines-mutator.kubevirt.io",
        path=MUTATE_MACHINE,
        resources=(MACHINES,),
        operations=(CREATE, UPDATE),
    ),
    Hook(
        name="virtualmachineinstances-mutator.kubevirt.io",
        path=MUTATE_INSTANCE,
        resources=(INSTANCES,),
        operations=(CREATE, UPDATE),
    ),
)

VALIDATING: Final = (
    Hook(
        name="virtualmachineinstances-create-validator.kubevirt.io",
        path=VALIDATE_NEW_INSTANCE,
        resources=(INSTANCES,),
    ),
    Hook(
        name="virtualmachineinstances-update-validator.kubevirt.io",
        path=VALIDATE_CHANGED_INSTANCE,
        resources=(INSTANCES,),
        operations=(UPDATE,),
    ),
    Hook(
        name="virtualmachine-validator.kubevirt.io",
        path=VALIDATE_MACHINE,
        resources=(MACHINES,),
        operations=(CREATE, UPDATE),
    ),
    Hook(
        name="kubevirt-crd-status-validator.kubevirt.io",
        path=VALIDATE_STATUS,
        resources=(
            "virtualmachines/status.kubevirt.io",
            "virtualmachineinstancereplicasets/status.kubevirt.io",
            "virtualmachineinstancemigrations/status.kubevirt.io",
            "virtualmachinepools/status.pool.kubevirt.io",
        ),
        operations=(CREATE, UPDATE),
    ),
    Hook(
        name="node-restriction-validator.kubevirt.io",
        path=VALIDATE_NODE,
        resources=(NODES,),
        operations=(UPDATE,),
        only_for=BY_HANDLERS,
    ),
    Hook(
        name="kubevirt-create-validator.kubevirt.io",
        path=VALIDATE_NEW_KUBEVIRT,
        resources=(KUBEVIRTS,),
        is_advice=True,
    ),
    Hook(
        name="kubevirt-update-validator.kubevirt.io",
        path=VALIDATE_CHANGED_KUBEVIRT,
        resources=(KUBEVIRTS,),
        operations=(UPDATE,),
        is_advice=True,
    ),
)

UNBUILT: Final = (
    Hook(
        name="virtualmachinereplicaset-validator.kubevirt.io",
        path="/virtualmachinereplicaset-validate",
        resources=("virtualmachineinstancereplicasets.kubevirt.io",),
    ),
    Hook(
        name="virtualmachinepool-validator.kubevirt.io",
        path="/virtualmachinepool-validate",
        resources=("virtualmachinepools.pool.kubevirt.io",),
    ),
    Hook(
        name="virtualmachinepreset-validator.kubevirt.io",
        path="/vmipreset-validate",
        resources=("virtualmachineinstancepresets.kubevirt.io",),
    ),
    Hook(
        name="migration-create-validator.kubevirt.io",
        path="/migration-validate-create",
        resources=("virtualmachineinstancemigrations.kubevirt.io",),
    ),
    Hook(
        name="virtualmachinesnapshot-validator.snapshot.kubevirt.io",
        path="/virtualmachinesnapshots-validate",
        resources=(
            "virtualmachinesnapshots.snapshot.kubevirt.io",
            "virtualmachinesnapshotcontents.snapshot.kubevirt.io",
        ),
    ),
    Hook(
        name="virtualmachinerestore-validator.snapshot.kubevirt.io",
        path="/virtualmachinerestores-validate",
        resources=("virtualmachinerestores.snapshot.kubevirt.io",),
    ),
    Hook(
        name="virtualmachinebackup-validator.backup.kubevirt.io",
        path="/virtualmachinebackups-validate",
        resources=("virtualmachinebackups.backup.kubevirt.io",),
    ),
    Hook(
        name="virtualmachinebackuptracker-validator.backup.kubevirt.io",
        path="/virtualmachinebackuptrackers-validate",
        resources=("virtualmachinebackuptrackers.backup.kubevirt.io",),
    ),
    Hook(
        name="virtualmachineexport-validator.export.kubevirt.io",
        path="/virtualmachineexports-validate",
        resources=("virtualmachineexports.export.kubevirt.io",),
    ),
    Hook(
        name="virtualmachineinstancetype-validator.instancetype.kubevirt.io",
        path="/virtualmachineinstancetypes-validate",
        resources=("virtualmachineinstancetypes.instancetype.kubevirt.io",),
    ),
    Hook(
        name="virtualmachineclusterinstancetype-validator.instancetype.kubevirt.io",
        path="/virtualmachineclusterinstancetypes-validate",
        resources=("virtualmachineclusterinstancetypes.instancetype.kubevirt.io",),
    ),
    Hook(
        name="virtualmachinepreference-validator.instancetype.kubevirt.io",
        path="/virtualmachinepreferences-validate",
        resources=("virtualmachinepreferences.instancetype.kubevirt.io",),
    ),
    Hook(
        name="virtualmachineclusterpreference-validator.instancetype.kubevirt.io",
        path="/virtualmachineclusterpreferences-validate",
        resources=("virtualmachineclusterpreferences.instancetype.kubevirt.io",),
    ),
    Hook(
        name="migration-policy-validator.kubevirt.io",
        path="/migration-policy-validate-create",
        resources=("migrationpolicies.migrations.kubevirt.io",),
    ),
    Hook(
        name="vm-clone-validator.kubevirt.io",
        path="/vm-clone-validate-create",
        resources=("virtualmachineclones.clone.kubevirt.io",),
    ),
    Hook(
        name="plugin-validator.plugin.kubevirt.io",
        path="/plugin-validate",
        resources=("plugins.plugin.kubevirt.io",),
    ),
)
"""Kinds that have nobody to act on them. Whoever builds one gives its path a meaning of its own."""


def mutating(reach: Reach) -> MutatingWebhookConfiguration:
    return MutatingWebhookConfiguration(
        api_version="admissionregistration.k8s.io/v1",
        kind="MutatingWebhookConfiguration",
        metadata=ObjectMeta(name=MUTATOR),
        webhooks=tuple(_mutating(reach)),
    )


def validating(reach: Reach) -> ValidatingWebhookConfiguration:
    return ValidatingWebhookConfiguration(
        api_version="admissionregistration.k8s.io/v1",
        kind="ValidatingWebhookConfiguration",
        metadata=ObjectMeta(name=VALIDATOR),
        webhooks=tuple(_validating(reach)),
    )


def _mutating(reach: Reach) -> Iterator[MutatingWebhook]:
    for hook in MUTATING:
        yield MutatingWebhook(
            name=hook.name,
            admission_review_versions=("v1",),
            client_config=reach(hook.path),
            failure_policy="Fail",
            rules=hook.rules,
            side_effects="None",
            timeout_seconds=TIMEOUT_S,
        )


def _validating(reach: Reach) -> Iterator[ValidatingWebhook]:
    for hook in (*VALIDATING, *UNBUILT):
        yield ValidatingWebhook(
            name=hook.name,
            admission_review_versions=("v1",),
            client_config=reach(hook.path),
            failure_policy="Ignore" if hook.is_advice else "Fail",
            match_conditions=_conditions(hook),
            rules=hook.rules,
            side_effects="None",
            timeout_seconds=ADVICE_S if hook.is_advice else TIMEOUT_S,
        )


def _conditions(hook: Hook) -> tuple[MatchCondition, ...]:
    return (MatchCondition(name="who", expression=hook.only_for),) if hook.only_for else ()
