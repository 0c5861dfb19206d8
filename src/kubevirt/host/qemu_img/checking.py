"""Whether an image is whole."""

import msgspec

from kubevirt.host.qemu_img.image import Image
from kubevirt.host.qemu_img.program import LIMITS, ImageLimits, ask, node, opened


class CheckResult(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """What a look at all the tables of a qcow2 image has found."""

    check_errors: int
    """Errors that kept it from looking further."""
    corruptions: int = 0
    leaks: int = 0
    """Clusters that nobody uses: space is lost, data is not."""

    @property
    def is_whole(self) -> bool:
        return not self.check_errors and not self.corruptions


async def check(image: Image, *, limits: ImageLimits = LIMITS) -> CheckResult:
    """Reads the tables and repairs nothing. A raw image has none and is always whole."""
    if image.format == "raw":
        return CheckResult(check_errors=0)
    with opened(image.path) as fd:
        return await ask(
            CheckResult,
            "check",
            "--force-share",
            node(fd, image.format),
            path=image.path,
            fd=fd,
            limits=limits,
            allowed=(0, 2, 3),  # whole, corrupt, leaking
        )
