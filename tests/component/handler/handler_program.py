"""A virt-handler as a process of its own, for tests that kill it: settings and the server's address as JSON."""

import asyncio
import sys

import msgspec
from tests.component.handler.world import client_of

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.base import log
from kubevirt.base.clock import SystemClock
from kubevirt.components.handler import handler
from kubevirt.components.handler.settings import HandlerSettings


async def main(settings: HandlerSettings, url: str) -> None:
    async with client_of(url) as client:
        await handler.run(settings, client, KubeVirtConfiguration, SystemClock())


if __name__ == "__main__":
    log.configure("virt-handler", 4)
    settings = msgspec.json.decode(
        sys.argv[1], type=HandlerSettings, dec_hook=lambda kind, text: kind(text)
    )
    asyncio.run(main(settings, sys.argv[2]))
