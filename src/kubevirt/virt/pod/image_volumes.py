"""Container disks as `image` volumes: the node mounts each image as it is, and no helper is needed."""

from typing import Final

from kubevirt.api.core.pod_volumes import ImageVolumeSource, Volume
from kubevirt.virt.pod.container_disks import KERNEL, Image, images
from kubevirt.virt.pod.launch import Launch
from kubevirt.virt.pod.storage import Storage, mounted

DISKS: Final = "/var/run/kubevirt-image-volume"
KERNEL_FOLDER: Final = "/var/run/kubevirt-kernel-boot"


def image_volumes(launch: Launch) -> Storage:
    return Storage.together(_storage(image) for image in images(launch))


def _storage(image: Image) -> Storage:
    source = ImageVolumeSource(reference=image.image, pull_policy=image.pull_policy)
    path = KERNEL_FOLDER if image.file == KERNEL else f"{DISKS}/{image.file}"
    return mounted(Volume(name=image.volume, image=source), path, read_only=True)
