"""Starts one try of a container: everything that it needs, in the order that it needs it.

Whatever is missing is a `NotNow` with the reason that the container waits for.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod
from kubevirt.base.errors import KubevirtError, UserError
from kubevirt.base.files import Root
from kubevirt.embedded.node import (
    accounts,
    containers,
    environment,
    environment_sources,
    happenings,
    pod_files,
    records,
    sighting,
    users,
)
from kubevirt.embedded.node.containers import Surroundings
from kubevirt.embedded.node.memory import PodMemory
from kubevirt.embedded.node.neighbours import Image, NotNow, PodNetwork
from kubevirt.embedded.node.parts import Parts
from kubevirt.embedded.node.records import TryRecord
from kubevirt.embedded.node.seen import Hook, Tried
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Container as Runnable

_CONFIG: Final = "CreateContainerConfigError"
_CREATE: Final = "CreateContainerError"
_RUN: Final = "RunContainerError"
_ENTERED_S: Final = 10.0
_LOOK_S: Final = 0.003


async def image_for(pod: Pod, container: Container, parts: Parts) -> Image:
    credentials = await environment_sources.pull_secrets(pod, parts)
    policy, name = container.image_pull_policy or "IfNotPresent", container.image or ""
    began = parts.clock.monotonic()
    image = await parts.neighbours.images.get(name, policy, credentials)
    if image.is_pulled:
        took_s = parts.clock.monotonic() - began
        parts.tell(pod, happenings.pulling(container.name, name))
        parts.tell(pod, happenings.pulled(container.name, name, took_s))
    else:
        parts.tell(pod, happenings.present(container.name, name))
    return image


async def start(
    pod: Pod, container: Container, number: int, memory: PodMemory, parts: Parts
) -> Tried:
    """Returns when it has begun."""
    network = memory.network
    if network is None:
        raise NotNow(_CREATE, "the pod has no network")
    _, image = memory.images[container.name]
    runnable = await _runnable(pod, container, number, image, network, memory, parts)
    began_at = parts.clock.now()
    attempt = memory.folder.attempt(container.name, number)
    record = TryRecord(began_at=began_at, session=memory.state.session, image_id=image.id)
    try:
        records.begin(attempt, record)
    except OSError as error:
        raise NotNow(_CREATE, f"{error.strerror}: {error.filename}") from None
    parts.tell(pod, happenings.created(container.name))
    own = container.security_context
    pods = spec_of(pod).security_context
    profile = (own.seccomp_profile if own else None) or (pods.seccomp_profile if pods else None)
    try:
        seccomp = parts.neighbours.filters.get(profile, runnable.rights.capabilities)
        await attempt.start(runnable, parts.neighbours.keeper, seccomp)
    except NotNow:
        raise
    except (KubevirtError, OSError) as error:
        raise NotNow(_RUN, str(error)) from None
    await _entered(attempt, parts)
    parts.tell(pod, happenings.started(container.name))
    has_hook = container.lifecycle is not None and container.lifecycle.post_start is not None
    return Tried(
        number=number,
        id=sighting.identity(memory.folder.uid, container.name, number),
        image_id=image.id,
        started_at=began_at,
        post_start=Hook.NOT_RUN if has_hook else Hook.DONE,
    )


async def _entered(attempt: Attempt, parts: Parts) -> None:
    """A container runs when its command does: whoever hears of it may ask it at once."""
    with suppress(TimeoutError):
        async with parts.clock.timeout(_ENTERED_S):
            while attempt.is_running and not attempt.has_entered:  # it is in /proc
                await parts.clock.sleep(_LOOK_S)


async def _runnable(
    pod: Pod,
    container: Container,
    number: int,
    image: Image,
    network: PodNetwork,
    memory: PodMemory,
    parts: Parts,
) -> Runnable:
    near, uid = parts.neighbours, memory.folder.uid
    try:
        sources = await environment_sources.gathered(pod, container, network.addresses, parts)
        variables = environment.variables(pod, container, sources)
        user = users.of(pod, container, image.config.user, accounts.read(image.root))
        devices = await near.devices.allocate(pod, container)
        attempt = memory.folder.attempt(container.name, number)
        return containers.assembled(
            container,
            Surroundings(
                image=image,
                user=user,
                variables=variables,
                mounts=near.volumes.mounts(pod, container, variables),
                files=_files(pod, network, memory, parts),
                message_file=str(records.message_file(attempt)),
                devices=devices,
                hostname=pod_files.hostname(
                    pod, parts.settings.name, parts.settings.cluster_domain
                ),
                network=network.namespace,
                cgroups=near.groups.for_container(uid, container.name, container.resources),
            ),
        )
    except UserError as error:
        raise NotNow(_CONFIG, str(error)) from None
    except OSError as error:
        raise NotNow(_CREATE, f"{error.strerror}: {error.filename}") from None


def _files(pod: Pod, network: PodNetwork, memory: PodMemory, parts: Parts) -> Mapping[str, str]:
    """Written before the first try, when addresses may have changed; those that run look at them."""
    settings, uid = parts.settings, memory.folder.uid
    places = {
        "/etc/hosts": settings.pod_folder(uid) / "etc-hosts",
        "/etc/hostname": memory.folder.folder / "hostname",
        "/etc/resolv.conf": memory.folder.folder / "resolv.conf",
    }
    if not memory.has_begun or not all(each.exists() for each in places.values()):
        is_shared = bool(spec_of(pod).host_network)
        machines = Path("/etc/hosts").read_text(errors="replace") if is_shared else ""
        domain = settings.cluster_domain
        hostname = pod_files.hostname(pod, settings.name, domain)
        hosts = pod_files.hosts(pod, network.addresses, domain, machines)
        texts = (hosts, f"{hostname}\n", network.resolver)
        for path, text in zip(places.values(), texts, strict=True):
            _write(path, text)
    return {target: str(path) for target, path in places.items()}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    with Root.open(path.parent) as root:
        root.write(path.name, text.encode(), mode=0o644, durable=False)
