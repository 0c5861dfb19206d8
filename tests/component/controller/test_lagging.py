"""Caches that lag behind: what was just done is not done again, and what is believed wrongly is not written."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from typing import Any, ClassVar

import pytest
from tests.component.controller import house as houses
from tests.component.controller.house import House

from kubevirt.api.resource import Resource
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES
from kubevirt.testing.admitting_client import AdmittingClient
from kubevirt.testing.builders import a_machine

LAG_S = 0.7


class LaggingClient(AdmittingClient):
    """What happens is heard of late; what is written is answered at once."""

    lags: ClassVar[dict[str, float]] = {}
    """Seconds, by plural, where it is not `LAG_S`."""

    async def watch(
        self, resource: Resource[Any], *arguments: Any, **options: Any
    ) -> AsyncGenerator[Any, None]:
        late: asyncio.Queue[Any] = asyncio.Queue()
        lag_s = self.lags.get(resource.plural, LAG_S)

        async def follow() -> None:
            async for event in super(LaggingClient, self).watch(resource, *arguments, **options):
                await late.put((asyncio.get_running_loop().time() + lag_s, event))
            await late.put((0.0, None))

        async with asyncio.TaskGroup() as tasks:
            following = tasks.create_task(follow())
            try:
                while True:
                    due, event = await late.get()
                    if event is None:
                        return
                    await asyncio.sleep(max(due - asyncio.get_running_loop().time(), 0))
                    yield event
            finally:
                following.cancel()


async def test_a_guest_that_was_left_behind_is_not_deleted_by_who_has_not_heard_of_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That the machine is free of those who leave guests behind is heard before that the guest is."""
    lags = {VIRTUAL_MACHINES.plural: 1.0, VIRTUAL_MACHINE_INSTANCES.plural: 4.0}
    monkeypatch.setattr(LaggingClient, "lags", lags)
    monkeypatch.setattr(houses, "AdmittingClient", LaggingClient)
    await house.leaves_instances_behind()
    async with house.controlled(), house.with_nodes():
        await house.create(a_machine(namespace=house.namespace, runStrategy="Always"))
        before = await house.until_phase("testvm", "Running")
        await house.until_word("testvm", "Running")
        await house.leave_behind("testvm")
        after = await house.instance("testvm")
        assert after is not None
        assert after.metadata.uid == before.metadata.uid
        assert after.metadata.deletion_timestamp is None


async def test_a_cache_that_lags_makes_no_second_instance_and_no_second_pod(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(houses, "AdmittingClient", LaggingClient)
    async with house.controlled() as controller, house.with_nodes():
        names = [f"vm-{number}" for number in range(5)]
        for name in names:
            await house.create(a_machine(name, house.namespace, runStrategy="Always"))

        async def nag() -> None:
            """Looks come far more often than changes."""
            while True:
                for name in names:
                    controller.machines.controller.queue.add(house.key(name))
                    controller.instances.controller.queue.add(house.key(name))
                await asyncio.sleep(0.02)

        async with asyncio.TaskGroup() as tasks:
            nagging = tasks.create_task(nag())
            for name in names:
                await house.until_machine(name, lambda vm: bool(vm.status.ready), "is ready")
            for name in names:
                await house.delete(VIRTUAL_MACHINES, name)
            for name in names:
                await house.until_gone(VIRTUAL_MACHINES, name)
            nagging.cancel()
        await house.settle()
        made = Counter(house.writes())
        assert made["create virtualmachineinstances 201"] == len(names)
        assert made["create pods 201"] == len(names)
        assert made["delete virtualmachineinstances 200"] == len(names)
        refused = sum(n for what, n in made.items() if what.endswith("409"))
        assert refused <= 3 * len(names), made
        assert controller.machines.controller.outcomes["bug"] == 0
        assert controller.instances.controller.outcomes["bug"] == 0
