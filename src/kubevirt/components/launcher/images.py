"""Disks and kernels in images that the node has mounted as they are: found without a helper.

What an image holds is its maker's. Links in it are not followed, so what is found lies in the image.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from kubevirt.api.firmware import KernelBoot
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.host.oci.errors import ContainerImageError
from kubevirt.host.oci.unpacked import UnpackedImage
from kubevirt.virt.layout import Layout
from kubevirt.virt.volumes.kernel_boot import KernelFiles, kernel_files


def disks(vmi: VirtualMachineInstance, layout: Layout) -> Mapping[str, str]:
    """The file of each container disk, by volume."""
    found = {}
    for index, volume in enumerate(vmi.spec.volumes):
        if disk := volume.container_disk:
            image = _mounted(disk.image, layout.image_volume(index))
            found[volume.name] = _readable(image, image.disk, disk.path)
    return found


def kernel(boot: KernelBoot | None, layout: Layout) -> KernelFiles:
    """By their paths in the image, where the usual place has them by their last names."""
    usual = kernel_files(boot, layout)  # refuses what cannot be used
    container = boot.container if boot else None
    if container is None:
        return usual
    image = _mounted(container.image, layout.kernel_image)
    paths = (container.kernel_path, container.initrd_path)
    found = (_readable(image, image.file, path) if path else None for path in paths)
    return KernelFiles(kernel=next(found), initrd=next(found))


def _mounted(name: str, folder: str) -> UnpackedImage:
    return UnpackedImage(name=name, digest="", folder=Path(folder))


def _readable(image: UnpackedImage, find: Callable[[str], Path], path: str | None) -> str:
    try:
        return str(find(path or ""))
    except PermissionError:
        raise ContainerImageError(
            f"image {image.name} has files that only their owner may read; make them readable by all"
        ) from None
    except FileNotFoundError:
        raise ContainerImageError(
            f"image {image.name} is not mounted at {image.folder}; the pod was made for another way"
        ) from None
