"""What KubeVirt's programs tell of themselves at their own ports, found as a monitor finds them."""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp

from kubevirt.api.scheme import ENDPOINT_SLICES
from kubevirt.embedded.home import Home
from kubevirt.kube.client import Client

SELECTOR = "kubernetes.io/service-name=kubevirt-prometheus-metrics"
LIMIT_S = 60.0


async def doors(client: Client) -> Mapping[str, str]:
    """Address and port by program."""
    found = await client.list(ENDPOINT_SLICES.raw, "kubevirt", label_selector=SELECTOR)
    return {
        each["metadata"]["name"].removesuffix("-metrics"): _door(each)
        for each in found.items
        if each.get("endpoints")
    }


def _door(endpoints: Mapping[str, Any]) -> str:
    [port] = endpoints["ports"]
    assert port["name"] == "metrics"
    [[address]] = [each["addresses"] for each in endpoints["endpoints"]]
    return f"{address}:{port['port']}"


async def until_told(client: Client, home: Home, program: str, wanted: Sequence[str]) -> None:
    """When all of these lines are there; a series' value is part of its line."""
    lines: list[str] = []
    try:
        async with asyncio.timeout(LIMIT_S):
            while not set(wanted) <= set(lines):
                if door := (await doors(client)).get(program):
                    lines = (await _ask(home, program, door, "/metrics")).splitlines()
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise AssertionError(f"{program} says only {lines}") from None


async def is_well(client: Client, home: Home, program: str) -> str:
    return await page(client, home, program, "/readyz")


async def page(client: Client, home: Home, program: str, path: str) -> str:
    return await _ask(home, program, (await doors(client))[program], path)


async def _ask(home: Home, program: str, door: str, path: str) -> str:
    kind = "virt-handler" if program.startswith("virt-handler") else program
    tls = ssl.create_default_context(cafile=str(home.pki / "ca.crt"))
    async with (
        aiohttp.ClientSession() as session,
        session.get(
            f"https://{door}{path}", ssl=tls, server_hostname=f"{kind}.kubevirt.svc"
        ) as answer,
    ):
        return await answer.text()
