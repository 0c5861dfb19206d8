"""Several controllers, of which one leads; and what becomes of its work when it is killed."""

import asyncio
import random
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.component.controller.conftest import Server
from tests.component.controller.house import House

from clusterup import processes, waiting
from kubevirt.api.scheme import LEASES, VIRTUAL_MACHINES
from kubevirt.components.controller.controlling import VirtController
from kubevirt.components.controller.settings import LEASE
from kubevirt.kube.cache.store import controller_uid
from kubevirt.kube.patches import MergePatch
from kubevirt.testing.builders import a_machine

PROGRAM = Path(__file__).parent / "program.py"
MACHINES = 8


@contextmanager
def _started(server: Server, house: House, folder: Path, name: str) -> Iterator[processes.Daemon]:
    argv = [sys.executable, "-W", "error", str(PROGRAM)]
    argv += [str(server.kubeconfig), house.namespace, house.agent]
    environment = processes.plain_environment(PYTHONPATH=":".join(sys.path))
    daemon = processes.Daemon(name, argv, folder / f"{name}.log", environment)
    daemon.start()
    try:
        yield daemon
    finally:
        if daemon.is_running():
            _end(daemon)


def _end(daemon: processes.Daemon) -> None:
    process = daemon._process
    assert process is not None
    process.kill()
    process.wait()


async def _create(house: House) -> list[str]:
    names = [f"vm-{number}" for number in range(MACHINES)]
    async with asyncio.TaskGroup() as tasks:
        for name in names:
            tasks.create_task(house.create(a_machine(name, house.namespace, runStrategy="Always")))
    return names


async def _is_led(house: House) -> None:
    async def is_so() -> bool:
        found = (await house.client.list(LEASES, house.namespace)).items
        return any(each.spec.holder_identity for each in found)

    await waiting.until(is_so, limit_s=60, what="somebody leads")


async def _are_ready(house: House, names: list[str]) -> None:
    for name in names:
        await house.until_machine(name, lambda vm: bool(vm.status.ready), "is ready")


async def _assert_one_each(house: House, names: list[str]) -> None:
    """One pod for each instance, one instance for each machine, and none was ever one too many."""
    pods = await house.pods()
    assert len(pods) == len(names)
    assert set(Counter(map(controller_uid, pods)).values()) == {1}
    await house.settle()
    made = Counter(each for each in house.writes() if each.startswith("create"))
    # What was made for somebody who did not live to hear of it is not noted as done.
    assert made["create pods 201"] <= len(names)
    assert made["create virtualmachineinstances 201"] <= len(names)


@pytest.mark.parametrize("moment_s", [0.2, 1.5])
async def test_when_a_controller_is_killed_another_goes_on_and_nothing_is_done_twice(
    server: Server, house: House, tmp_path: Path, moment_s: float
) -> None:
    async with house.with_nodes():
        with _started(server, house, tmp_path, "first") as first:
            await _is_led(house)
            names = await _create(house)
            await asyncio.sleep(moment_s * random.uniform(0.5, 1.5))
            _end(first)
            with _started(server, house, tmp_path, "second"):
                await _are_ready(house, names)
                await _assert_one_each(house, names)
                for name in names:
                    await house.delete(VIRTUAL_MACHINES, name)
                for name in names:
                    await house.until_gone(VIRTUAL_MACHINES, name)


async def test_of_two_controllers_one_acts_and_the_other_takes_over(house: House) -> None:
    async with house.with_nodes():
        async with house.controlled(identity="one") as one:
            await waiting.until(_leads(one), limit_s=60, what="one leads")
            async with house.controlled(identity="two") as two:
                names = await _create(house)
                await _are_ready(house, names)
                await _assert_one_each(house, names)
                assert not two.elector.is_leader
                assert house.at_work == [one]
                assert not two.machines.controller.outcomes
                assert not two.instances.controller.queue.depth
        async with house.controlled(identity="two") as two:
            await waiting.until(_leads(two), limit_s=60, what="two leads")
            before = house.writes()
            await house.create(a_machine("last", house.namespace, runStrategy="Always"))
            await house.until_word("last", "Running")
            await house.settle()
            assert Counter(house.writes()[len(before) :])["create pods 201"] == 1


async def test_a_controller_from_whom_the_lease_is_taken_stands_again(house: House) -> None:
    async with house.controlled(identity="one") as one, house.with_nodes():
        await waiting.until(_leads(one), limit_s=60, what="one leads")
        await house.create(a_machine("before", house.namespace, runStrategy="Always"))
        await house.until_word("before", "Running")
        thief = {"holderIdentity": "thief", "renewTime": "2030-01-01T00:00:00.000000Z"}
        patch = MergePatch({"spec": thief})
        await house.client.patch(LEASES, LEASE, patch, house.namespace)

        async def follows() -> bool:
            return not one.elector.is_leader and not house.at_work

        await waiting.until(follows, limit_s=60, what="one leads no more")
        await house.create(a_machine("after", house.namespace, runStrategy="Always"))
        await house.until_word("after", "Running")
        assert one.elector.is_leader
        assert one.machines.controller.outcomes["bug"] == 0


def _leads(controller: VirtController) -> Callable[[], Awaitable[bool]]:
    async def leads() -> bool:
        return controller.elector.is_leader

    return leads
