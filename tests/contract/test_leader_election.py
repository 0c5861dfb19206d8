"""Leader election on a real Lease: against ourselves, against death, against client-go."""

import asyncio
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.contract import elector_process
from tests.contract.conftest import Server
from tests.contract.elector_process import QUICK

from clusterup import waiting
from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer
from kubevirt.api.core.lease import LeaseSpec
from kubevirt.api.scheme import LEASES
from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background
from kubevirt.kube.client import Client
from kubevirt.kube.leader import LeaderElector

pytestmark = pytest.mark.timeout(600)

LEASE = "contested"
MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class Program:
    """A process whose lines are read as they come."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.lines: list[str] = []
        self._process = process

    async def listen(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self.lines.append(line.decode().strip())

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def says(self, word: str) -> None:
        await until(lambda: word in self.lines)


async def until(is_true: Callable[[], bool]) -> None:
    async def probe() -> bool:
        return is_true()

    await waiting.until(probe, limit_s=120, what="leadership")


@asynccontextmanager
async def started(*argv: str | Path) -> AsyncIterator[Program]:
    process = await asyncio.create_subprocess_exec(
        *map(str, argv), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    program = Program(process)
    try:
        async with background(program.listen()):
            yield program
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


Start = Callable[[str], AbstractAsyncContextManager[Program]]
Elect = Callable[[str], LeaderElector]


@pytest.fixture
def start(server: Server, namespace: str) -> Start:
    """Starts another process that wants the lease."""

    def start(identity: str) -> AbstractAsyncContextManager[Program]:
        program = elector_process.__file__
        return started(sys.executable, program, server.kubeconfig, namespace, LEASE, identity)

    return start


@pytest.fixture
def elect(client: Client, namespace: str, clock: Clock) -> Elect:
    """An elector in this process."""

    def elect(identity: str) -> LeaderElector:
        return LeaderElector(
            client, namespace=namespace, name=LEASE, identity=identity, clock=clock, settings=QUICK
        )

    return elect


async def spec_of(client: Client, namespace: str) -> LeaseSpec:
    return (await client.get(LEASES, LEASE, namespace)).spec


async def renewed_after(client: Client, namespace: str, before: LeaseSpec) -> LeaseSpec:
    async def is_renewed() -> bool:
        return ((await spec_of(client, namespace)).renew_time or "") > (before.renew_time or "")

    await waiting.until(is_renewed, limit_s=120, what="a renewal")
    return await spec_of(client, namespace)


async def forever() -> None:
    await asyncio.Event().wait()


async def test_a_lease_is_taken_renewed_and_handed_over(
    elect: Elect, client: Client, namespace: str
) -> None:
    one, two = elect("one"), elect("two")
    async with background(one.run(forever)):
        await until(lambda: one.is_leader)
        first = await spec_of(client, namespace)
        assert (first.holder_identity, first.lease_transitions) == ("one", 0)
        assert MICRO_TIME.fullmatch(first.acquire_time or "")
        async with background(two.run(forever)):
            renewed = await renewed_after(client, namespace, first)
            assert not two.is_leader
            assert renewed.acquire_time == first.acquire_time
    free = await spec_of(client, namespace)
    assert (free.holder_identity, free.lease_duration_seconds) == ("", 1)
    async with background(two.run(forever)):
        await until(lambda: two.is_leader)
        assert (await spec_of(client, namespace)).lease_transitions == 1


async def test_when_the_leader_is_killed_the_next_takes_over(
    start: Start, client: Client, namespace: str
) -> None:
    async with start("one") as one:
        await one.says("acts")
        async with start("two") as two:
            last = await renewed_after(client, namespace, await spec_of(client, namespace))
            one.send(signal.SIGKILL)
            await two.says("acts")
            # Whoever takes it has seen it unchanged for as long as it lasts.
            taken = datetime.fromisoformat((await spec_of(client, namespace)).acquire_time or "")
            waited = taken - datetime.fromisoformat(last.renew_time or "")
            assert waited >= timedelta(seconds=QUICK.lease_duration_s)


async def test_a_leader_that_was_paused_too_long_does_nothing_when_it_wakes_up(
    start: Start,
) -> None:
    async with start("one") as one:
        await one.says("acts")
        async with start("two") as two:
            one.send(signal.SIGSTOP)
            await two.says("acts")
            acts = one.lines.count("acts")
            one.send(signal.SIGCONT)
            await one.says("lost")
            assert one.lines.count("acts") == acts, "it acted while another led"
            assert one.lines.count("leads") == 1
            assert "lost" not in two.lines


async def test_client_go_and_we_respect_each_other(
    elect: Elect, server: Server, client: Client, namespace: str, clock: Clock
) -> None:
    ours = elect("ours")

    async def holder() -> str:
        return (await spec_of(client, namespace)).holder_identity or ""

    async with client_go_holder(server, namespace):
        theirs = await wait_for_holder(client, namespace)
        async with background(ours.run(forever)):
            await clock.sleep(QUICK.lease_duration_s + 2)
            assert not ours.is_leader
            assert ours.leader == theirs == await holder()
    # It was killed and gave nothing back.
    async with background(ours.run(forever)):
        await until(lambda: ours.is_leader)
        assert (await spec_of(client, namespace)).lease_transitions == 1
        async with client_go_holder(server, namespace):
            await clock.sleep(QUICK.lease_duration_s + 2)
            assert await holder() == "ours"
    # We gave it back, and another that comes need not wait.
    async with client_go_holder(server, namespace):
        await wait_for_holder(client, namespace)
        spec = await spec_of(client, namespace)
        assert spec.lease_transitions == 2


def client_go_holder(server: Server, namespace: str) -> AbstractAsyncContextManager[Program]:
    """A program written with client-go that holds a Lease while it lives."""
    assert isinstance(server, LightCluster | EmbeddedServer)
    return started(
        server.kubectl.with_name("kube-controller-manager"),
        f"--kubeconfig={server.kubeconfig}",
        "--controllers=ttl-after-finished-controller",
        "--secure-port=0",
        "--leader-elect=true",
        f"--leader-elect-resource-name={LEASE}",
        f"--leader-elect-resource-namespace={namespace}",
        f"--leader-elect-lease-duration={QUICK.lease_duration_s}s",
        f"--leader-elect-renew-deadline={QUICK.renew_deadline_s}s",
        f"--leader-elect-retry-period={QUICK.retry_period_s}s",
    )


async def wait_for_holder(client: Client, namespace: str) -> str:
    async for event in client.watch(LEASES, namespace, resource_version=None, timeout_s=120):
        spec = getattr(event.object, "spec", LeaseSpec())
        if spec.holder_identity:
            return str(spec.holder_identity)
    raise AssertionError("nobody took the lease")
