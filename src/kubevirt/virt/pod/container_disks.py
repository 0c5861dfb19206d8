"""Container disks by helper containers, as the mission's pod has them.

    container-disk-binary      puts a static program into a folder that all helpers share
    volume<name>-init          starts it once in the disk's image: from here on the image is on the node
    volume<name>               keeps it running, so that the image stays mounted and virt-handler finds it

A kernel's image is treated alike, under the name `kernel-boot`.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from kubevirt.api.core.container import Container, ResourceRequirements, VolumeMount
from kubevirt.virt.pod import folders, names, security
from kubevirt.virt.pod.launch import Launch

PROGRAM: Final = "container-disk"
BINARIES: Final = "/usr/bin"
INSTALLER: Final = "container-disk-binary"
KERNEL: Final = "kernel-boot"
SUPPORT_TYPE: Final = "container-disk"

RESOURCES: Final = ResourceRequirements(
    requests={"cpu": "10m", "memory": "1M"}, limits={"cpu": "100m", "memory": "40M"}
)
"""Of each helper."""


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """An image that a guest needs, and what its helpers are called."""

    name: str
    volume: str
    """Of the instance; for a kernel one that no instance has."""
    image: str
    pull_policy: str | None
    pull_secret: str | None
    index: int | None
    """The volume's place in the list; None for a kernel."""

    @property
    def file(self) -> str:
        """Which the helper makes in the shared folder to be found by."""
        return KERNEL if self.index is None else f"disk_{self.index}"


def images(launch: Launch) -> Iterator[Image]:
    for index, volume in enumerate(launch.spec.volumes):
        if disk := volume.container_disk:
            yield Image(
                name=f"volume{volume.name}",
                volume=volume.name,
                image=disk.image,
                pull_policy=disk.image_pull_policy,
                pull_secret=disk.image_pull_secret,
                index=index,
            )
    if kernel := launch.kernel_image:
        yield Image(
            name=KERNEL,
            volume=KERNEL,
            image=kernel.image,
            pull_policy=kernel.image_pull_policy,
            pull_secret=kernel.image_pull_secret,
            index=None,
        )


def init_containers(launch: Launch) -> tuple[Container, ...]:
    each = tuple(images(launch))
    if not each:
        return ()
    installer = Container(
        name=INSTALLER,
        image=launch.config.launcher_image,
        image_pull_policy=launch.config.pull_policy,
        command=("/usr/bin/cp", f"{BINARIES}/{PROGRAM}", f"/init{BINARIES}/{PROGRAM}"),
        resources=_resources(launch),
        security_context=security.CONTAINER,
        volume_mounts=(VolumeMount(name=folders.PROGRAMS, mount_path=f"/init{BINARIES}"),),
    )
    return (installer, *(_helper(launch, image, "-init", "--no-op") for image in each))


def containers(launch: Launch) -> tuple[Container, ...]:
    folder = _folder(launch)
    return tuple(
        _helper(launch, image, "", "--copy-path", f"{folder}/{image.file}")
        for image in images(launch)
    )


def _helper(launch: Launch, image: Image, suffix: str, *arguments: str) -> Container:
    return Container(
        name=names.fitting(image.name, names.LABEL_LIMIT - len("-init")) + suffix,
        image=image.image,
        image_pull_policy=image.pull_policy,
        command=(f"{BINARIES}/{PROGRAM}",),
        args=arguments,
        resources=_resources(launch),
        security_context=security.CONTAINER,
        volume_mounts=(
            VolumeMount(name=folders.CONTAINER_DISKS, mount_path=_folder(launch)),
            VolumeMount(name=folders.PROGRAMS, mount_path=BINARIES),
        ),
    )


def _folder(launch: Launch) -> str:
    """With the UID in it: whatever the image holds, it holds nothing there."""
    return f"{launch.layout.ephemeral}/container-disk-data/{launch.uid}"


def _resources(launch: Launch) -> ResourceRequirements:
    own = launch.config.support.get(SUPPORT_TYPE)
    if own is None:
        return RESOURCES
    return ResourceRequirements(
        requests={**RESOURCES.requests, **own.requests}, limits={**RESOURCES.limits, **own.limits}
    )
