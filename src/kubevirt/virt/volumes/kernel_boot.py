"""A kernel that comes in a container image: where the launcher finds it."""

import msgspec

from kubevirt.api.firmware import KernelBoot
from kubevirt.virt.errors import SpecError
from kubevirt.virt.layout import Layout


class KernelFiles(msgspec.Struct, frozen=True, kw_only=True):
    kernel: str | None = None
    initrd: str | None = None


def kernel_files(boot: KernelBoot | None, layout: Layout) -> KernelFiles:
    """Both lie in one folder under their own last names, whatever their path in the image."""
    container = boot.container if boot else None
    kernel = container.kernel_path if container else None
    initrd = container.initrd_path if container else None
    if container and not kernel and not initrd:
        raise SpecError(
            "kernelBoot.container names neither a kernel nor an initrd; set kernelPath or initrdPath"
        )
    if boot and boot.kernel_args and not kernel:
        raise SpecError("kernel arguments cannot be provided without an external kernel")
    return KernelFiles(
        kernel=layout.kernel_boot(kernel) if kernel else None,
        initrd=layout.kernel_boot(initrd) if initrd else None,
    )
