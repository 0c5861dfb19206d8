"""Container disks as `image` volumes: the node mounts each image as it is, and no helper is needed."""

from kubevirt.api.core.pod_volumes import ImageVolumeSource, Volume
from kubevirt.virt.pod.container_disks import Image, images
from kubevirt.virt.pod.launch import Launch
from kubevirt.virt.pod.storage import Storage, mounted


def image_volumes(launch: Launch) -> Storage:
    return Storage.together(_storage(launch, image) for image in images(launch))


def _storage(launch: Launch, image: Image) -> Storage:
    source = ImageVolumeSource(reference=image.image, pull_policy=image.pull_policy)
    layout = launch.layout
    path = layout.kernel_image if image.index is None else layout.image_volume(image.index)
    return mounted(Volume(name=image.volume, image=source), path, read_only=True)
