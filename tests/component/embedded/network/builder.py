"""A process that connects and disconnects pods until it is killed.

    python builder.py NAMESPACE_FD SETTINGS URL UID…

Says `ready` when it begins. Every pod is connected, and every other one disconnected again, over and over.
"""

import asyncio
import sys
from itertools import cycle

import msgspec

from kubevirt.base.clock import SystemClock
from kubevirt.embedded.network.networks import opened
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.embedded.network.switchboard import Switchboard
from kubevirt.host.net.netns import Namespace
from kubevirt.kube.access.config import Config
from kubevirt.kube.access.credentials import HeldCredentials
from kubevirt.kube.access.material import Inline
from kubevirt.kube.client import Client


async def main(fd: int, settings: NetworkSettings, url: str, uids: list[str]) -> None:
    token = HeldCredentials(token=Inline(b"admin", "token"))
    with Namespace.of_descriptor(fd) as machine:
        async with (
            Client(Config(server=url, credentials=token)) as client,
            opened(settings, client, SystemClock(), machine=machine) as networks,
        ):
            print("ready", flush=True)  # noqa: T201  # to whoever started it
            switchboard: Switchboard = networks.node(settings.nodes[0])._switchboard
            for number, uid in cycle(enumerate(uids)):
                await switchboard.connect(settings.nodes[0], uid, f"default/{uid}", {})
                if number % 2:
                    await switchboard.disconnect(uid)


if __name__ == "__main__":
    asyncio.run(
        main(
            int(sys.argv[1]),
            msgspec.json.decode(
                sys.argv[2], type=NetworkSettings, dec_hook=lambda kind, text: kind(text)
            ),
            sys.argv[3],
            sys.argv[4:],
        )
    )
