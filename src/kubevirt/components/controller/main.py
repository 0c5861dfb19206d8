"""`virt-controller`: reads its flags, reaches the API server, and leads if nobody else does.

virt-controller --launcher-image IMAGE --port 8443 -v 3
"""

import argparse
import sys
from collections.abc import Sequence

from kubevirt.components.controller.controlling import VirtController
from kubevirt.components.controller.settings import (
    INSTANCE_WORKERS,
    MACHINE_WORKERS,
    NODE_WORKERS,
    Settings,
)
from kubevirt.components.ground.flags import parser
from kubevirt.components.ground.program import Ground, run

PROGRAM = "virt-controller"
PORT = 8443


def main(arguments: Sequence[str] | None = None) -> int:
    given = _flags().parse_args(arguments)
    return run(PROGRAM, given, lambda ground: live(ground, given))


async def live(ground: Ground, given: argparse.Namespace) -> None:
    settings = Settings(
        launcher_image=given.launcher_image,
        namespace=ground.namespace,
        machine_workers=given.vm_controller_threads,
        instance_workers=given.vmi_controller_threads,
        node_workers=given.node_controller_threads,
    )
    controller = VirtController(ground.client, ground.clock, ground.configuration, settings)
    controller.show(ground.metrics, ground.health, ground.pages)
    await controller.run()


def _flags() -> argparse.ArgumentParser:
    flags = parser(
        PROGRAM, "Makes instances of virtual machines, and pods of instances.", port=PORT
    )
    flags.add_argument("--launcher-image", required=True, help="what guests run in")
    for kind, number in (
        ("vm", MACHINE_WORKERS),
        ("vmi", INSTANCE_WORKERS),
        ("node", NODE_WORKERS),
    ):
        flags.add_argument(
            f"--{kind}-controller-threads",
            type=int,
            default=number,
            metavar="N",
            help=f"how many {kind}s are looked at at the same time",
        )
    return flags


if __name__ == "__main__":
    sys.exit(main())
