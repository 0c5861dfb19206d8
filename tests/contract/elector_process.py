"""A program that acts only while it leads: what `test_leader_election.py` kills, stops and resumes.

    python elector_process.py KUBECONFIG NAMESPACE LEASE IDENTITY

It says `leads`, then `acts` every 50 ms after making sure that it may, and `lost` at the end.
"""

import asyncio
import os
import sys
from pathlib import Path

from kubevirt.base.clock import SystemClock
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.leader import ElectionSettings, LeaderElector, LeadershipLost

QUICK = ElectionSettings(lease_duration_s=10, renew_deadline_s=9, retry_period_s=0.5)
"""Short, but long enough for a machine that does ten other things."""


def say(word: str) -> None:
    os.write(sys.stdout.fileno(), f"{word}\n".encode())


async def main(config: str, namespace: str, lease: str, identity: str) -> None:
    clock = SystemClock()
    async with Client(kubeconfig.load([Path(config)], os.environ)) as client:
        elector = LeaderElector(
            client, namespace=namespace, name=lease, identity=identity, clock=clock, settings=QUICK
        )

        async def act() -> None:
            say("leads")
            while True:
                elector.assert_leader()
                say("acts")
                await clock.sleep(0.05)

        try:
            await elector.run(act)
        except LeadershipLost:
            say("lost")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
