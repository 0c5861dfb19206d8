"""virt-controller as a process of its own, which tells what it has done so far whenever it is asked.

    {"event": "leads"}      →
                            ←     go
    {"event": "figures", …} →

It is the component as it is, with a client that lets instances in as virt-api would: there is none here.
"""

import argparse
import asyncio
import os
import sys
import time
from pathlib import Path

from bench.protocol import settle, tell
from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.base.clock import SystemClock
from kubevirt.base.tasks import background
from kubevirt.components.controller.controlling import VirtController
from kubevirt.components.controller.settings import Settings
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.testing.admitting_client import AdmittingClient

APART = {"events", "leases"}
WRITES = {"POST", "PATCH", "PUT", "DELETE"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kubeconfig", required=True)
    asyncio.run(work(parser.parse_args().kubeconfig))


async def work(config: str) -> None:
    found = kubeconfig.load([Path(config)], os.environ)
    settings = Settings(launcher_image="launcher:bench", namespace="default")
    async with AdmittingClient(found, user_agent="virt-controller") as client:
        controller = VirtController(client, SystemClock(), KubeVirtConfiguration, settings)
        async with background(controller.run()):
            await _leading(controller)
            tell("leads")
            while await asyncio.to_thread(sys.stdin.readline):
                settle()
                tell("figures", **_figures(controller, client))


async def _leading(controller: VirtController) -> None:
    for informer in controller.caches.informers:
        await informer.wait_synced()
    while not controller.elector.is_leader:  # noqa: ASYNC110  # nothing tells of it
        await asyncio.sleep(0.05)


def _figures(controller: VirtController, client: Client) -> dict[str, float]:
    parts = (controller.machines.controller, controller.instances.controller)
    return {
        "cpu_seconds": time.process_time(),
        "looks": sum(sum(each.outcomes.values()) for each in parts),
        "bugs": sum(each.outcomes["bug"] for each in parts),
        "writes": sum(
            number
            for (_, method, _, resource, _), number in client.traffic.requests.items()
            if method in WRITES and resource not in APART
        ),
    }


if __name__ == "__main__":
    main()
