"""A node's endpoint: who may come, and what they get."""

import asyncio
import json
import os
import signal
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import msgspec
import pytest
from tests.component.embedded.endpoint.conftest import HOST, Visitors, written
from tests.component.embedded.endpoint.pods import Pods, a_pod
from tests.component.embedded.endpoint.running import LIMIT_S, processes, shell, started, until

from kubevirt.api.core.pod import Pod
from kubevirt.apiserver.auth.authority import Authority, Wanted
from kubevirt.base.clock import SystemClock
from kubevirt.embedded.node.endpoint import endpoint as endpoint_module
from kubevirt.embedded.node.endpoint.channels import V4, V5
from kubevirt.embedded.node.endpoint.endpoint import EndpointSettings, serving
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.keeper import Keeper

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="sandboxes of pods are made by root")

LOG = "/containerLogs/default/web/main"


@pytest.fixture
async def attempt(attempts: Path, keeper: Keeper, pods: Pods) -> Attempt:
    """Of a pod whose container waits after a few words."""
    made = await started(attempts / "0", keeper, shell("echo one; echo two >&2; exec sleep 1000"))
    await until(lambda: (made.folder / "log").read_bytes().count(b"\n") == 2)
    pods.add(a_pod("web", "main"), main=[made])
    return made


async def asked(session: aiohttp.ClientSession, path: str) -> tuple[int, str]:
    async with asyncio.timeout(LIMIT_S), session.get(path) as answer:
        return answer.status, await answer.text()


async def test_nobody_comes_without_a_certificate(visitor: Visitors, attempt: Attempt) -> None:
    nobody = await visitor("")
    for path in ("/healthz", "/pods", LOG, "/exec/default/web/main?command=x&output=1"):
        assert await asked(nobody, path) == (401, "Unauthorized\n")


async def test_only_the_server_and_administrators_come(visitor: Visitors, attempt: Attempt) -> None:
    somebody = await visitor("jane", ["system:authenticated", "system:nodes"])
    administrator = await visitor("root", ["system:masters"])

    code, words = await asked(somebody, LOG)

    assert (code, words[:27]) == (403, "Forbidden (user=jane, verb=")
    assert await asked(administrator, "/healthz") == (200, "ok")


async def test_a_certificate_of_another_authority_opens_nothing(
    visitor: Visitors, attempt: Attempt
) -> None:
    stranger = await visitor(signed_by=Authority.create("kubernetes", datetime.now(UTC)))
    with pytest.raises(aiohttp.ClientError):
        await asked(stranger, "/healthz")


async def test_a_renewed_certificate_is_shown(
    authority: Authority, pki: Path, pods: Pods, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint_module, "LOOK_EVERY_S", 0.05)
    now = datetime.now(UTC)
    files = written(authority.issue(Wanted.node("node01", [HOST]), now), pki, "node")
    settings = EndpointSettings(
        host=HOST, certificate=files[0], key=files[1], authority=authority.pair.certificate
    )
    async with serving(settings, pods, keeper, SystemClock()) as port:
        before = await _shown(port)
        written(authority.issue(Wanted.node("node01", [HOST]), now), pki, "node")
        async with asyncio.timeout(LIMIT_S):
            while await _shown(port) == before:  # noqa: ASYNC110  # it is the one way to see it
                await asyncio.sleep(0.05)


async def _shown(port: int) -> bytes:
    import ssl

    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    _, writer = await asyncio.open_connection(HOST, port, ssl=context)
    found: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    await writer.wait_closed()
    return found


async def test_the_pods_of_a_node_are_listed(
    server: aiohttp.ClientSession, attempt: Attempt
) -> None:
    code, text = await asked(server, "/pods")

    found = json.loads(text)
    assert (code, found["kind"]) == (200, "PodList")
    assert [each["metadata"]["name"] for each in found["items"]] == ["web"]


@pytest.mark.parametrize(
    ("path", "code", "words"),
    [
        ("/nonsense", 404, "404 page not found"),
        ("/run/default/web/main", 404, "404 page not found"),
        ("/portForward/default/web", 501, "SPDY"),
        ("/containerLogs/default/absent/main", 404, 'pod "absent" not found'),
        ("/containerLogs/default/web/x", 404, 'container "x" not found in pod "web"'),
        (LOG + "?previous=true", 400, 'previous terminated container "main" in pod "web" not'),
        (LOG + "?tailLines=x", 400, "tailLines has to be a number"),
        ("/exec/default/web/main?output=1", 400, "you must specify a command"),
        ("/exec/default/web/main?command=x", 400, "at least 1 of stdin, stdout, stderr"),
        ("/exec/default/absent/main?command=x&output=1", 404, "pod does not exist"),
        ("/exec/default/web/another-uid/main?command=x&output=1", 404, "pod does not exist"),
        ("/exec/default/web/x?command=x&output=1", 500, 'container not found ("x")'),
        ("/exec/default/web/main?command=x&output=1", 400, "a websocket is needed"),
    ],
)
async def test_what_cannot_be_had_is_said_in_words(
    server: aiohttp.ClientSession, attempt: Attempt, path: str, code: int, words: str
) -> None:
    found, said = await asked(server, path)

    assert found == code, said
    assert words in said


async def test_a_log_is_given(server: aiohttp.ClientSession, attempt: Attempt) -> None:
    assert await asked(server, LOG + "?stream=Stdout") == (200, "one\n")
    assert await asked(server, LOG + "?stream=Stderr") == (200, "two\n")
    code, text = await asked(server, LOG + "?tailLines=1&timestamps=true")
    assert (code, text[10], text[29:31]) == (200, "T", "Z ")


async def test_a_log_is_followed_from_its_head_on(
    server: aiohttp.ClientSession, attempts: Path, keeper: Keeper, pods: Pods
) -> None:
    """The answer begins before the container says anything."""
    silent = await started(attempts / "0", keeper, shell("exec sleep 1000"))
    pods.add(a_pod("web", "main"), main=[silent])

    async with asyncio.timeout(LIMIT_S), server.get(LOG + "?follow=true") as answer:
        assert answer.status == 200
        silent.signal(signal.SIGKILL)
        assert await answer.read() == b""


class Command:
    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.said = {1: b"", 2: b"", 3: b""}

    async def ended(self) -> dict[str, object]:
        """What channel 3 tells."""
        async with asyncio.timeout(LIMIT_S):
            async for message in self.socket:
                self.said[message.data[0]] += message.data[1:]
        return dict(json.loads(self.said[3])) if self.said[3] else {}

    async def until_said(self, text: bytes) -> None:
        async with asyncio.timeout(LIMIT_S):
            while text not in self.said[1]:
                data = await self.socket.receive_bytes()
                self.said[data[0]] += data[1:]

    async def send(self, channel: int, data: bytes) -> None:
        await self.socket.send_bytes(bytes([channel]) + data)


@asynccontextmanager
async def connected(
    session: aiohttp.ClientSession,
    *words: str,
    streams: str = "input output error",
    protocol: str = V5,
) -> AsyncIterator[Command]:
    query = [*(("command", each) for each in words), *((each, "1") for each in streams.split())]
    place = "exec" if words else "attach"
    url = f"/{place}/default/web/main"
    async with session.ws_connect(url, params=query, protocols=[protocol]) as socket:
        assert socket.protocol == protocol
        yield Command(socket)


@pytest.mark.parametrize("protocol", [V5, V4])
async def test_a_command_is_run(
    server: aiohttp.ClientSession, attempt: Attempt, protocol: str
) -> None:
    script = "echo out; echo err >&2; read line; echo got $line; exit 7"
    async with connected(server, "sh", "-c", script, protocol=protocol) as command:
        await command.send(0, b"some words\n")
        told = await command.ended()

    assert command.said[1] == b"out\ngot some words\n"
    assert command.said[2] == b"err\n"
    assert told["reason"] == "NonZeroExitCode"
    assert command.socket.close_code == 1000


async def test_the_end_of_input_is_told_by_version_5(
    server: aiohttp.ClientSession, attempt: Attempt
) -> None:
    async with connected(server, "wc", "-c") as command:
        for _ in range(100):
            await command.send(0, b"x" * 30_000)
        await command.send(255, b"\0")
        assert await command.ended() == {"status": "Success"}

    assert command.said[1] == b"3000000\n"


async def test_a_command_that_is_not_there_is_told(
    server: aiohttp.ClientSession, attempt: Attempt
) -> None:
    async with connected(server, "nonsense") as command:
        told = await command.ended()

    assert told["reason"] == "InternalError"
    assert "cannot start nonsense: No such file or directory" in str(told["message"])
    assert command.said[2] == b""


async def test_a_terminal_has_a_size(server: aiohttp.ClientSession, attempt: Attempt) -> None:
    script = "trap 'stty size; exit 0' WINCH; echo here; while :; do sleep 0.02; done"
    async with connected(server, "sh", "-c", script, streams="input output tty") as command:
        await command.until_said(b"here")
        await command.send(4, b'{"Width":111,"Height":33}')
        assert await command.ended() == {"status": "Success"}

    assert b"33 111\r\n" in command.said[1]


async def test_a_slow_client_gets_all(server: aiohttp.ClientSession, attempt: Attempt) -> None:
    """The command has long ended when the client begins to read."""
    async with connected(server, "sh", "-c", "head -c 8000000 /dev/zero") as command:
        await asyncio.sleep(2)
        assert await command.ended() == {"status": "Success"}

    assert len(command.said[1]) == 8_000_000


@pytest.fixture
def mark() -> str:
    return f"kvpy-test-{uuid.uuid4().hex}"


@pytest.mark.parametrize("script", ["exec sleep 1000", "yes", "trap '' HUP TERM; read line; yes"])
async def test_a_command_ends_with_its_client(
    visitor: Visitors, attempt: Attempt, mark: str, script: str
) -> None:
    session = await visitor()
    async with connected(session, "sh", "-c", f": {mark}; {script}; :"):
        await until(lambda: bool(processes(mark)))
        assert session.connector is not None
        await session.connector.close()

    await until(lambda: not processes(mark))


async def test_a_command_that_does_not_read_ends_with_its_client(
    visitor: Visitors, attempt: Attempt, mark: str
) -> None:
    session = await visitor()
    async with connected(session, "sh", "-c", f": {mark}; sleep 1000; :") as command:
        await until(lambda: bool(processes(mark)))
        for _ in range(3):  # more than the command's pipe holds
            await command.send(0, b"x" * 70_000)
        assert command.socket._response.connection is not None
        transport = command.socket._response.connection.transport
        assert transport is not None
        transport.abort()

    await until(lambda: not processes(mark))


async def test_many_commands_at_once(server: aiohttp.ClientSession, attempt: Attempt) -> None:
    async def one(number: int) -> bytes:
        async with connected(server, "echo", str(number)) as command:
            await command.ended()
            return command.said[1]

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(number)) for number in range(30)]

    assert [task.result() for task in tasks] == [b"%d\n" % number for number in range(30)]


async def test_what_a_container_says_is_heard(
    server: aiohttp.ClientSession, attempts: Path, keeper: Keeper, pods: Pods
) -> None:
    script = "echo before; while :; do echo out; echo err >&2; sleep 0.05; done"
    speaking = await started(attempts / "0", keeper, shell(script))
    await until(lambda: "before" in (speaking.folder / "log").read_text())
    pods.add(a_pod("web", "main"), main=[speaking])

    async with connected(server, streams="output error") as attached:
        await attached.until_said(b"out\nout\n")
        speaking.signal(signal.SIGKILL)
        assert await attached.ended() == {"status": "Success"}

    assert b"before" not in attached.said[1]
    assert b"err\n" in attached.said[2]


def listener(name: str, **more: object) -> Pod:
    own = {"name": "main", "image": "x", "stdin": True, **more}
    return msgspec.convert(
        {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": [own]}}, Pod
    )


async def test_what_is_said_to_a_container_is_heard_and_answered(
    server: aiohttp.ClientSession, attempts: Path, keeper: Keeper, pods: Pods
) -> None:
    script = "while read -r line; do echo you said $line; done; echo over"
    listening = await started(attempts / "0", keeper, shell(script, has_input=True))
    pods.add(listener("web", stdinOnce=True), main=[listening])

    async with connected(server, streams="input output") as attached:
        await attached.send(0, b"hello\n")
        await attached.until_said(b"you said hello\n")
        await attached.send(255, b"\0")
        assert await attached.ended() == {"status": "Success"}

    assert attached.said[1] == b"you said hello\nover\n"


async def test_a_container_listens_to_one_after_the_other(
    server: aiohttp.ClientSession, attempts: Path, keeper: Keeper, pods: Pods
) -> None:
    script = "while read -r line; do echo you said $line; done; echo over"
    listening = await started(attempts / "0", keeper, shell(script, has_input=True))
    pods.add(listener("web"), main=[listening])

    for word in (b"one", b"two"):
        async with connected(server, streams="input output") as attached:
            await attached.send(0, word + b"\n")
            await attached.until_said(b"you said " + word)
            await attached.send(255, b"\0")

    assert listening.is_running


async def test_a_container_that_does_not_listen_goes_on_speaking(
    server: aiohttp.ClientSession, attempts: Path, keeper: Keeper, pods: Pods
) -> None:
    script = "while :; do echo word; sleep 0.05; done"
    deaf = await started(attempts / "0", keeper, shell(script, has_input=True))
    pods.add(listener("web"), main=[deaf])

    async with connected(server, streams="input output") as attached:
        for _ in range(5):  # more than the pipes on the way hold
            await attached.send(0, b"x" * 50_000)
        attached.said[1] = b""
        await attached.until_said(b"word\n" * 5)
        deaf.signal(signal.SIGKILL)
        assert await attached.ended() == {"status": "Success"}


async def test_a_terminal_of_a_container_is_told_not_to_be_there(
    server: aiohttp.ClientSession, attempt: Attempt, pods: Pods
) -> None:
    pods.add(listener("web", tty=True), main=[attempt])

    code, words = await asked(server, "/attach/default/web/main?input=1&output=1&tty=1")

    assert code == 501
    assert "has no terminal here" in words
