"""Which objects a pod's volumes are made of."""

from collections.abc import Iterator
from typing import NamedTuple

from kubevirt.api.core.pod import Pod
from kubevirt.api.core.pod_volumes import Volume, VolumeProjection
from kubevirt.embedded.objects.pods import spec_of


class Thing(NamedTuple):
    """A ConfigMap or a Secret."""

    is_secret: bool
    namespace: str
    name: str


def of_pod(pod: Pod) -> set[Thing]:
    return {thing for volume in spec_of(pod).volumes for thing in of_volume(pod, volume)}


def of_volume(pod: Pod, volume: Volume) -> set[Thing]:
    namespace = pod.metadata.namespace or ""
    return {Thing(is_secret, namespace, name) for is_secret, name in _named(pod, volume) if name}


def _named(pod: Pod, volume: Volume) -> Iterator[tuple[bool, str | None]]:
    if volume.image is not None:
        yield from ((True, each.name) for each in spec_of(pod).image_pull_secrets)
    if volume.config_map is not None:
        yield False, volume.config_map.name
    if volume.secret is not None:
        yield True, volume.secret.secret_name
    if volume.projected is not None:
        for source in volume.projected.sources:
            yield from _of_projection(source)


def _of_projection(source: VolumeProjection) -> Iterator[tuple[bool, str | None]]:
    if source.config_map is not None:
        yield False, source.config_map.name
    if source.secret is not None:
        yield True, source.secret.name
