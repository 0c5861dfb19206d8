"""virt-api dies: nothing gets past it meanwhile, and nothing is left to mend when it is there again."""

import asyncio

import aiohttp
from tests.component.virtapi.machines import Machines
from tests.component.virtapi.stand_in_handler import StandInHandler

from clusterup import waiting
from kubevirt.kube.errors import ApiError

LIMIT_S = 120.0


async def test_it_is_killed_and_comes_back(machines: Machines, handler: StandInHandler) -> None:
    await machines.machine(runStrategy="Manual")
    await machines.instance("other")
    path = machines.call("virtualmachineinstances", "other", "console")
    async with machines.client.websocket(path, ["plain.kubevirt.io"]) as console:
        await console.send_bytes(b"hello")
        assert await console.receive_bytes(timeout=LIMIT_S) == b"hello"
        await machines.place.kill()
        try:
            message = await console.receive(timeout=LIMIT_S)
            assert message.type is not aiohttp.WSMsgType.BINARY
            await _nobody_gets_past(machines)
        finally:
            machines.place.start_again()
    async with asyncio.timeout(LIMIT_S):
        await handler.has_ended.wait()

    async def starts() -> bool:
        start = machines.call("virtualmachines", "testvm", "start")
        try:
            await machines.client.raw("PUT", start, {})
        except ApiError as error:
            return "already underway" in str(error)  # by an answer that was lost
        return True

    await waiting.until(starts, limit_s=LIMIT_S, what="machines can be started again")
    await waiting.until(lambda: _can_create(machines), limit_s=LIMIT_S, what="and created")
    vm = await machines.get("virtualmachines", "testvm")
    assert vm["status"]["stateChangeRequests"] == [{"action": "Start"}]


async def _nobody_gets_past(machines: Machines) -> None:
    try:
        await machines.machine("unseen", runStrategy="Manual")
    except ApiError as error:
        text = str(error)
    else:
        text = ""
    assert "failed calling webhook" in text


async def _can_create(machines: Machines) -> bool:
    try:
        await machines.machine("another", runStrategy="Manual")
    except ApiError:
        return False
    return True
