"""Reads what the environment of a container is made of: only the objects that it names, when it is started."""

from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from typing import TypeVar

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod
from kubevirt.api.resource import Resource
from kubevirt.api.scheme import CONFIG_MAPS, SECRETS
from kubevirt.embedded.node import service_links
from kubevirt.embedded.node.downward import Places
from kubevirt.embedded.node.environment import Sources
from kubevirt.embedded.node.parts import Parts
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.kube.errors import NotFound

T = TypeVar("T")


async def gathered(
    pod: Pod, container: Container, addresses: tuple[str, ...], parts: Parts
) -> Sources:
    namespace = pod.metadata.namespace or ""
    node = parts.node()
    maps, secrets = set(_config_maps(container)), set(_secrets(container))
    has_links = spec_of(pod).enable_service_links is not False
    return Sources(
        config_maps=await _read(parts, CONFIG_MAPS, namespace, maps),
        secrets=await _read(parts, SECRETS, namespace, secrets),
        service_links=service_links.variables(parts.services(), namespace, has_links=has_links),
        places=Places(
            addresses=addresses,
            host_addresses=parts.settings.addresses,
            allocatable=node.status.allocatable if node else {},
        ),
    )


async def pull_secrets(pod: Pod, parts: Parts) -> list[bytes]:
    """Those that are there: a pull without them may succeed, and tells if it does not."""
    names = {each.name for each in spec_of(pod).image_pull_secrets if each.name}
    found = await _read(parts, SECRETS, pod.metadata.namespace or "", names)
    contents = (each.data.get(".dockerconfigjson") for each in found.values())
    return [b64decode(each) for each in contents if each]


async def _read(
    parts: Parts, resource: Resource[T], namespace: str, names: set[str]
) -> dict[str, T]:
    found: dict[str, T] = {}
    for name in sorted(names):
        with suppress(NotFound):
            found[name] = await parts.client.get(resource, name, namespace)
    return found


def _config_maps(container: Container) -> Iterator[str]:
    for each in container.env_from:
        if each.config_map_ref is not None:
            yield each.config_map_ref.name or ""
    for variable in container.env:
        source = variable.value_from
        if source is not None and source.config_map_key_ref is not None:
            yield source.config_map_key_ref.name or ""


def _secrets(container: Container) -> Iterator[str]:
    for each in container.env_from:
        if each.secret_ref is not None:
            yield each.secret_ref.name or ""
    for variable in container.env:
        source = variable.value_from
        if source is not None and source.secret_key_ref is not None:
            yield source.secret_key_ref.name or ""
