"""`render`: an instance and the settings, to the pod of its launcher. Same input, same pod.

The instance should have passed `defaults.with_defaults`. What cannot become a pod is refused with a
`UserError`; nothing else is ever raised. docs/launcher-pod.md has the fields, and where they differ from
the mission's and from upstream's.
"""

from typing import Final

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod, PodReadinessGate, PodSpec
from kubevirt.api.core.references import LocalObjectReference
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.meta import ObjectMeta, OwnerReference
from kubevirt.virt.errors import SpecError, shown
from kubevirt.virt.hostname import hostname_of
from kubevirt.virt.instance.names import UNPAUSED_GATE
from kubevirt.virt.pod import (
    command,
    console_log,
    container_disks,
    credentials,
    folders,
    image_volumes,
    names,
    ports,
    probes,
    scheduling,
    security,
    volumes,
)
from kubevirt.virt.pod.annotations import annotations
from kubevirt.virt.pod.config import PodConfig
from kubevirt.virt.pod.labels import labels
from kubevirt.virt.pod.launch import Launch
from kubevirt.virt.pod.overhead import overhead_bytes
from kubevirt.virt.pod.refusals import refuse_what_is_missing
from kubevirt.virt.pod.resources import resources
from kubevirt.virt.pod.storage import Storage, folder
from kubevirt.virt.volumes.location import block_volumes

INSTANCE_API: Final = "kubevirt.io/v1"
INSTANCE_KIND: Final = "VirtualMachineInstance"


def render(
    vmi: VirtualMachineInstance, config: PodConfig, blocks: frozenset[str] | None = None
) -> Pod:
    """`blocks` are the volumes whose claims are block devices, instead of what the status says."""
    launch = Launch(vmi, config, block_volumes(vmi) if blocks is None else blocks)
    refuse_what_is_missing(launch)
    overhead = overhead_bytes(launch)
    spec = _spec(launch, overhead)
    _check_names(spec)
    return Pod(
        api_version="v1",
        kind="Pod",
        metadata=ObjectMeta(
            generate_name=f"virt-launcher-{launch.name}-",
            namespace=launch.namespace,
            labels=labels(launch),
            annotations=annotations(launch, overhead),
            owner_references=(_owner(launch),),
        ),
        spec=spec,
    )


def _check_names(spec: PodSpec) -> None:
    """Names of the instance's volumes and Secrets may meet in the pod, once ours are made of them."""
    volumes = [each.name for each in spec.volumes]
    containers = [each.name for each in (*spec.init_containers, *spec.containers)]
    paths = [mount.mount_path for mount in spec.containers[0].volume_mounts]
    for all_names in (volumes, containers, paths):
        for name in all_names:
            if all_names.count(name) > 1:
                raise SpecError(
                    f"two volumes or Secrets of the instance would both be {shown(name)} in its "
                    f"pod; rename one of them"
                )


def _owner(launch: Launch) -> OwnerReference:
    return OwnerReference(
        api_version=INSTANCE_API,
        kind=INSTANCE_KIND,
        name=launch.name,
        uid=launch.uid,
        controller=True,
        block_owner_deletion=True,
    )


def _spec(launch: Launch, overhead: int) -> PodSpec:
    spec = launch.spec
    storage = _storage(launch)
    helpers = () if launch.config.image_volumes else container_disks.containers(launch)
    installers = () if launch.config.image_volumes else container_disks.init_containers(launch)
    account, has_token = _account(launch)
    return PodSpec(
        affinity=scheduling.affinity(launch),
        automount_service_account_token=has_token,
        containers=(_compute(launch, storage, overhead), *helpers),
        dns_config=spec.dns_config,
        dns_policy=spec.dns_policy,
        enable_service_links=False,
        hostname=names.label("host name", hostname_of(launch.vmi)),
        image_pull_secrets=_pull_secrets(launch),
        init_containers=(*installers, *console_log.containers(launch)),
        node_selector=scheduling.node_selector(launch),
        priority_class_name=spec.priority_class_name,
        readiness_gates=_readiness_gates(launch),
        restart_policy="Never",
        runtime_class_name=launch.config.runtime_class,
        scheduler_name=spec.scheduler_name,
        security_context=security.pod(launch),
        service_account_name=account,
        subdomain=spec.subdomain,
        termination_grace_period_seconds=command.pod_grace_s(launch),
        tolerations=spec.tolerations,
        topology_spread_constraints=spec.topology_spread_constraints,
        volumes=(
            *storage.volumes,
            *(folder(folders.PROGRAMS, "").volumes if installers else ()),
        ),
    )


def _compute(launch: Launch, storage: Storage, overhead: int) -> Container:
    spec = launch.spec
    return Container(
        name=names.COMPUTE,
        command=command.command(launch),
        image=launch.config.launcher_image,
        image_pull_policy=launch.config.pull_policy,
        liveness_probe=probes.probe(launch, "livenessProbe", spec.liveness_probe),
        ports=ports.ports(launch),
        readiness_probe=probes.probe(launch, "readinessProbe", spec.readiness_probe),
        resources=resources(launch, overhead),
        security_context=security.CONTAINER,
        termination_message_policy="FallbackToLogsOnError",
        volume_devices=storage.devices,
        volume_mounts=storage.mounts,
    )


def _storage(launch: Launch) -> Storage:
    has_images = launch.config.image_volumes
    return Storage.together(
        (
            folders.folders(launch),
            volumes.volumes(launch),
            credentials.credentials(launch),
            image_volumes.image_volumes(launch) if has_images else Storage(),
        )
    )


def _readiness_gates(launch: Launch) -> tuple[PodReadinessGate, ...]:
    return (PodReadinessGate(condition_type=UNPAUSED_GATE),) if launch.config.pause_gate else ()


def _account(launch: Launch) -> tuple[str | None, bool]:
    """Whose name the pod bears, and whether it gets a token: only if the guest is to have it."""
    wanted = launch.spec.service_account_name
    for volume in launch.spec.volumes:
        if volume.service_account:
            return volume.service_account.service_account_name or wanted, True
    return wanted, False


def _pull_secrets(launch: Launch) -> tuple[LocalObjectReference, ...]:
    secrets = (image.pull_secret for image in container_disks.images(launch))
    return tuple(LocalObjectReference(name=each) for each in dict.fromkeys(filter(None, secrets)))
