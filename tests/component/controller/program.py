"""virt-controller as a process that can be killed, on a server without virt-api.

    python program.py KUBECONFIG NAMESPACE AGENT

It is the component as it is, with a client that lets instances in as virt-api would.
"""

import asyncio
import os
import sys
from pathlib import Path

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.base.clock import SystemClock
from kubevirt.components.controller.controlling import VirtController
from kubevirt.components.controller.settings import Settings
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.leader import ElectionSettings
from kubevirt.testing.admitting_client import AdmittingClient

QUICK = ElectionSettings(lease_duration_s=8, renew_deadline_s=7.0, retry_period_s=0.5)


async def main(config: str, namespace: str, agent: str) -> None:
    found = kubeconfig.load([Path(config)], os.environ)
    async with AdmittingClient(found, user_agent=agent) as client:
        settings = Settings(launcher_image="launcher:test", namespace=namespace, election=QUICK)
        await VirtController(client, SystemClock(), KubeVirtConfiguration, settings).run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
