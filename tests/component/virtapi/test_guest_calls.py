"""Calls that a node carries out: passed on to its virt-handler, and its answers passed back."""

import json

import aiohttp
import pytest
from aiohttp import web
from tests.component.virtapi.machines import Machines
from tests.component.virtapi.stand_in_handler import PICTURE, StandInHandler

from kubevirt.kube.errors import ApiError, Conflict

PAUSED = [{"type": "Paused", "status": "True"}]
WITH_AGENT = [{"type": "AgentConnected", "status": "True"}]


def below(machines: Machines, what: str) -> str:
    return f"/v1/namespaces/{machines.namespace}/virtualmachineinstances/testvm/{what}"


async def test_a_guest_is_paused_and_unpaused(machines: Machines, handler: StandInHandler) -> None:
    await machines.instance()
    said = await machines.put(machines.call("virtualmachineinstances", "testvm", "pause"))
    assert (said.code, said.stdout) == (0, "")
    await machines.tell("testvm", conditions=PAUSED)
    said = await machines.put(machines.call("virtualmachineinstances", "testvm", "pause"))
    assert "VMI is already paused" in said.stderr
    said = await machines.put(machines.call("virtualmachineinstances", "testvm", "unpause"))
    assert said.code == 0, said.stderr
    asked = [("PUT", below(machines, each), "{}") for each in ("pause", "unpause")]
    assert handler.asked == asked


@pytest.mark.parametrize("what", ["reset", "softreboot"])
async def test_a_guest_is_booted_anew(
    machines: Machines, handler: StandInHandler, what: str
) -> None:
    await machines.instance()
    said = await machines.put(machines.call("virtualmachineinstances", "testvm", what))
    assert said.code == 0, said.stderr
    assert handler.asked == [("PUT", below(machines, what), "")]


async def test_to_try_a_pause_asks_no_node(machines: Machines, handler: StandInHandler) -> None:
    await machines.instance()
    path = machines.call("virtualmachineinstances", "testvm", "pause")
    said = await machines.put(path, '{"dryRun": ["All"]}')
    assert said.code == 0, said.stderr
    assert handler.asked == []


@pytest.mark.parametrize("what", ["guestosinfo", "userlist", "filesystemlist"])
async def test_what_the_agent_tells(machines: Machines, handler: StandInHandler, what: str) -> None:
    await machines.instance()
    path = machines.call("virtualmachineinstances", "testvm", what)
    with pytest.raises(ApiError, match="VMI does not have guest agent connected") as caught:
        await machines.client.raw("GET", path)
    assert caught.value.code == 500
    await machines.tell("testvm", conditions=WITH_AGENT)
    said = await machines.kubectl("get", "--raw", path)
    assert json.loads(said.stdout) == json.loads(handler.users)


async def test_a_picture_is_taken(machines: Machines, handler: StandInHandler) -> None:
    await machines.instance()
    path = machines.call("virtualmachineinstances", "testvm", "vnc/screenshot")
    found = await machines.client.raw("GET", path, params={"moveCursor": "true"}, accept="*/*")
    assert found == PICTURE
    assert handler.asked == [("GET", below(machines, "vnc/screenshot?moveCursor=true"), "")]


async def test_what_a_node_refuses_is_refused(machines: Machines, handler: StandInHandler) -> None:
    await machines.instance()
    handler.refusal = web.Response(status=409, text="not this one")
    with pytest.raises(Conflict, match="not this one"):
        await machines.client.raw(
            "PUT", machines.call("virtualmachineinstances", "testvm", "reset"), {}
        )


async def test_a_node_that_says_too_much_is_not_listened_to(
    machines: Machines, handler: StandInHandler
) -> None:
    await machines.instance(conditions=WITH_AGENT)
    handler.users = "x" * (17 << 20)
    path = machines.call("virtualmachineinstances", "testvm", "userlist")
    with pytest.raises(ApiError, match="the answer of virt-handler is larger than"):
        await machines.client.raw("GET", path)


async def test_a_node_sends_nobody_elsewhere(machines: Machines, handler: StandInHandler) -> None:
    await machines.instance()
    headers = {"Location": "https://elsewhere.example/"}
    handler.refusal = web.Response(status=302, headers=headers)
    with pytest.raises(ApiError, match="virt-handler answered with 502") as caught:
        await machines.client.raw(
            "PUT", machines.call("virtualmachineinstances", "testvm", "reset"), {}
        )
    assert caught.value.code == 502


async def test_a_node_that_is_away_is_named(machines: Machines) -> None:
    await machines.instance()
    said = await machines.put(machines.call("virtualmachineinstances", "testvm", "reset"))
    assert "virt-handler of node node01 cannot be reached" in said.stderr
    assert "SSLContext" not in said.stderr  # which means nothing to a user
    await machines.tell("testvm", nodeName="node99")
    said = await machines.put(machines.call("virtualmachineinstances", "testvm", "reset"))
    assert "node node99, which has the guest, is not there" in said.stderr


async def test_a_guest_that_has_no_node_yet(machines: Machines) -> None:
    await machines.instance(phase="Scheduling", nodeName=None)
    path = machines.call("virtualmachineinstances", "testvm", "vnc/screenshot")
    said = await machines.kubectl("get", "--raw", path)
    text = "because phase is Scheduling instead of Running or Scheduled"
    assert f"Unable to connect to VirtualMachineInstance {text}" in said.stderr


async def test_only_a_virt_handler_is_believed_to_be_one(machines: Machines) -> None:
    """A server with a certificate of the same authority, but for somebody else, gets nothing."""
    await machines.instance()
    handler = StandInHandler()
    context = machines.place.stranger_context()
    async with handler.serving(context, machines.place.handler_port):
        said = await machines.put(machines.call("virtualmachineinstances", "testvm", "reset"))
    assert "cannot be reached" in said.stderr
    assert handler.asked == []


async def test_a_virt_handler_lets_nobody_in_who_shows_nothing(
    machines: Machines, handler: StandInHandler
) -> None:
    with pytest.raises(aiohttp.ClientError):
        async with (
            aiohttp.ClientSession() as session,
            session.get(
                f"https://127.0.0.1:{machines.place.handler_port}/",
                ssl=machines.place.door_context(),
                server_hostname="virt-handler.kubevirt.svc",
            ) as answer,
        ):
            await answer.read()
