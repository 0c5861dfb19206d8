"""Our client in pods that really run: programs, their input and exit codes, and logs."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.cluster.support import LIMIT_S, Provider, pod

from clusterup import waiting
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, BadRequest
from kubevirt.kube.http.containers import V5, Channel

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1200)]


@pytest.fixture
async def client(facts: dict[str, Any]) -> AsyncIterator[Client]:
    async with Client(kubeconfig.load([facts["kubeconfig"]], os.environ)) as client:
        yield client


@pytest.fixture
async def greeter(two_nodes: Provider, namespace: str) -> str:
    """A pod that has said three lines and then waits."""
    script = "echo one; echo two >&2; echo three; exec sleep 100000"
    await two_nodes.apply(pod(namespace, "greeter", script))
    await two_nodes.until_ready(namespace, "greeter")

    async def has_spoken() -> bool:
        return len((await two_nodes.kubectl("logs", "-n", namespace, "greeter")).splitlines()) == 3

    await waiting.until(has_spoken, limit_s=LIMIT_S, what="three lines")
    return "greeter"


async def sh(client: Client, namespace: str, pod: str, script: str) -> tuple[int, bytes, bytes]:
    async with client.exec(pod, namespace, ["sh", "-c", script]) as process:
        said = {Channel.STDOUT: b"", Channel.STDERR: b""}
        async for channel, data in process.output():
            said[channel] += data
        return await process.exit_code(), said[Channel.STDOUT], said[Channel.STDERR]


async def test_a_program_tells_its_output_and_its_exit_code(
    client: Client, namespace: str, greeter: str
) -> None:
    assert await sh(client, namespace, greeter, "echo out; echo err >&2") == (0, b"out\n", b"err\n")
    assert await sh(client, namespace, greeter, "exit 42") == (42, b"", b"")
    assert await sh(client, namespace, greeter, "kill -9 $$") == (137, b"", b"")


async def test_a_program_reads_its_input_to_the_end(
    client: Client, namespace: str, greeter: str
) -> None:
    sent = os.urandom(1 << 20)
    async with client.exec(greeter, namespace, ["cat"], stdin=True) as process:

        async def feed() -> None:
            for start in range(0, len(sent), 1 << 15):
                await process.write(sent[start : start + (1 << 15)])
            await process.close_stdin()

        async with asyncio.TaskGroup() as group:
            group.create_task(feed())
            received = b"".join([data async for _, data in process.output()])
        assert await process.exit_code() == 0
    assert received == sent


async def test_a_terminal_has_the_size_it_is_given(
    client: Client, namespace: str, greeter: str
) -> None:
    script = "until stty size | grep -q '^45 123'; do sleep 0.1; done; stty size"
    async with client.exec(greeter, namespace, ["sh", "-c", script], tty=True) as process:
        await process.resize(columns=123, rows=45)
        said = b"".join([data async for _, data in process.output()])
    assert b"45 123" in said


async def test_the_server_speaks_the_newest_protocol(
    client: Client, namespace: str, greeter: str
) -> None:
    async with client.exec(greeter, namespace, ["true"]) as process:
        assert process.protocol == V5


async def test_a_program_that_is_not_there_is_an_error(
    client: Client, namespace: str, greeter: str
) -> None:
    async with client.exec(greeter, namespace, ["no-such-program"]) as process:
        with pytest.raises(ApiError, match="no-such-program"):
            await process.exit_code()
    with pytest.raises(BadRequest, match="container other is not valid"):
        async with client.exec(greeter, namespace, ["true"], container="other"):
            pass


async def test_a_log_is_read_whole_in_part_and_as_it_grows(
    client: Client, namespace: str, greeter: str
) -> None:
    whole = b"".join([piece async for piece in client.log(greeter, namespace)])
    assert sorted(whole.splitlines()) == [b"one", b"three", b"two"]
    tail = b"".join([piece async for piece in client.log(greeter, namespace, tail_lines=1)])
    assert tail in whole
    assert tail.count(b"\n") == 1
    stamped = b"".join([piece async for piece in client.log(greeter, namespace, timestamps=True)])
    assert stamped.startswith(b"20")
    with pytest.raises(BadRequest, match="previous terminated container"):
        await anext(client.log(greeter, namespace, previous=True))


async def test_a_followed_log_ends_with_its_container(
    client: Client, namespace: str, two_nodes: Provider
) -> None:
    # Who opens it would go with the container, so the container waits until they have gone.
    script = (
        "echo 1; echo 2; until [ -s /open ]; do sleep 0.1; done;"
        ' while kill -0 "$(cat /open)" 2>/dev/null; do sleep 0.1; done; echo 3'
    )
    await two_nodes.apply(pod(namespace, "counter", script, restartPolicy="Never"))
    await two_nodes.until_ready(namespace, "counter")
    followed = b""
    async for piece in client.log("counter", namespace, follow=True):
        if not followed:
            await two_nodes.inside(namespace, "counter", "echo $$ >/open")
        followed += piece
    assert followed == b"1\n2\n3\n"
