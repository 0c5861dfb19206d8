"""Waiting until a server has forgotten the past."""

import asyncio
import itertools

from tests.contract.conftest import CRDS
from tests.contract.lamps import CONFIG_MAPS, a_config_map

from kubevirt.kube.client import Client
from kubevirt.kube.errors import Expired

_NUMBERS = itertools.count()


async def until_forgotten(client: Client, version: str) -> None:
    """Writes go on, and old versions are dropped once they are some seconds old."""
    async with asyncio.timeout(120):
        while True:
            try:
                await client.list(
                    CRDS, resource_version=version, resource_version_match="Exact", limit=1
                )
            except Expired:
                return
            await client.create(CONFIG_MAPS, a_config_map(f"noise-{next(_NUMBERS)}"), "default")
            await asyncio.sleep(0.2)
