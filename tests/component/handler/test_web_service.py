"""What virt-api may ask of a node, and who else may not. The guests have no system."""

import os
import shutil
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from tests.component.handler.calling import Caller, Certificates, caller
from tests.component.handler.world import Launcher, Node, a_node, a_vmi

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.virt.conditions import found

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it makes a container for each test"),
    pytest.mark.skipif(not shutil.which("bwrap"), reason="no bwrap: install bubblewrap"),
    pytest.mark.skipif(not shutil.which("libvirtd"), reason="no libvirtd: install libvirt-daemon"),
    pytest.mark.timeout(600),
]


class Place:
    def __init__(
        self,
        node: Node,
        launcher: Launcher,
        port: int | None,
        certificates: Certificates,
        virt_api: Caller,
        lines: str,
    ) -> None:
        self.node = node
        self.launcher = launcher
        self.port = port
        self.certificates = certificates
        self.virt_api = virt_api
        self.lines = launcher.volume("private") / lines
        """Where the guest's sockets are."""


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    """A node with one guest that runs."""
    async with a_place() as made:
        yield made


@asynccontextmanager
async def a_place() -> AsyncIterator[Place]:
    async with a_node() as node, node.running(a_vmi()) as launcher:
        certificates = Certificates(node.folder / "certificates")
        async with (
            node.handler(tls=certificates.server()) as handler,
            caller(certificates.client(), handler.port) as virt_api,
        ):
            vmi = await node.phase("Running")
            uid = vmi.metadata.uid
            yield Place(node, launcher, handler.port, certificates, virt_api, uid)


async def test_buttons_are_pressed_and_questions_answered(place: Place) -> None:
    virt_api = place.virt_api
    qemu = place.launcher.pid_of("qemu")
    for button in ("pause", "unpause", "reset", "softreboot"):
        assert await virt_api.call("PUT", button) == (202, b"")
    for question in ("guestosinfo", "userlist", "filesystemlist"):
        code, answer = await virt_api.call("GET", question)
        assert (code, answer[:1]) == (200, b"{")
    code, picture = await virt_api.call("GET", "vnc/screenshot")
    assert (code, picture[1:4]) == (200, b"PNG")
    assert place.launcher.pid_of("qemu") == qemu
    await place.node.told("Paused", "Unpaused", "Reset", "SoftRebooted")
    code, words = await virt_api.call("PUT", "pause", "nobody")
    assert (code, words) == (
        404,
        b"VirtualMachineInstance nobody in namespace default not found.",
    )


async def test_a_picture_after_a_move_of_the_mouse_cuts_nobody_off(place: Place) -> None:
    async with place.virt_api.line("vnc") as screen:
        await screen.says("RFB 003.008")
        code, picture = await place.virt_api.call("GET", "vnc/screenshot?moveCursor=true")
        assert (code, picture[1:4]) == (200, b"PNG")
        await screen.type("RFB 003.008\n")
        await screen.says("\x01\x01")  # one kind of security: none


async def test_every_reset_is_seen_in_the_status(place: Place) -> None:
    said = [""]
    for _ in range(2):
        assert (await place.virt_api.call("PUT", "reset"))[0] == 202
        vmi = await place.node.until(lambda vmi: words_of_reboot(vmi) not in said)
        assert vmi.status.phase == "Running"
        said.append(words_of_reboot(vmi))


def words_of_reboot(vmi: VirtualMachineInstance) -> str:
    condition = found(vmi.status.conditions, "Rebooted")
    return (condition.message or "") if condition is not None else ""


async def test_a_second_caller_takes_the_line_over(place: Place) -> None:
    virt_api = place.virt_api
    for line in ("console", "vnc"):
        async with virt_api.line(line) as first, virt_api.line(line) as second:
            while (await first.socket.receive()).type is aiohttp.WSMsgType.BINARY:
                pass
            assert first.socket.closed
            assert not second.socket.closed


async def test_a_screen_that_somebody_looks_at_can_be_left_to_them(place: Place) -> None:
    virt_api = place.virt_api
    async with virt_api.line("vnc") as screen:
        await screen.says("RFB 003.008")
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            async with virt_api.line("vnc?preserveSession=true"):
                pass
        assert refused.value.status == 503
        code, words = await virt_api.call("GET", "vnc?preserveSession=true")
        assert (code, words) == (503, b"Active VNC connection. Request denied.")


async def test_only_virt_api_may_ask(place: Place) -> None:
    another = place.certificates.client("kubevirt.io:system:node:virt-handler")
    async with caller(another, place.port) as handler_of_another_node:
        code, _ = await handler_of_another_node.call("PUT", "pause")
        assert code == 403
    async with caller(place.certificates.client(None), place.port) as anybody:
        with pytest.raises((aiohttp.ClientError, ssl.SSLError)):
            await anybody.call("PUT", "pause")
    assert place.launcher.pid_of("qemu")


async def test_a_line_that_is_a_link_to_somebody_elses_socket_is_not_followed(place: Place) -> None:
    line = place.lines / "virt-serial0"
    line.rename(place.lines / "real")
    line.symlink_to(place.launcher.volume("sockets") / "launcher-sock")
    code, words = await place.virt_api.call("GET", "console")
    assert code in {500, 503}
    assert b"symbolic link" in words or b"no such line" in words
    line.unlink()
    (place.lines / "real").rename(line)
    async with place.virt_api.line("console"):
        pass
