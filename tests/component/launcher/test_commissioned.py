"""A launcher that has its guest in writing: it starts without any call, and can be called afterwards."""

import asyncio
from typing import Any

import pytest
from tests.component.launcher.world import USER, World, launched

from kubevirt.base.errors import UserError
from kubevirt.components.launcher.commission import Commission

ALONE: dict[str, Any] = {"standalone": True, "commissioned": True, "has_handler": False}


async def outcome(world: World, **changes: Any) -> str:
    async with asyncio.timeout(60):
        commission = Commission(world.folder / "share")
        return await commission.given(world.vmi(**changes), reader=USER)


async def test_a_guest_runs_before_anybody_may_call() -> None:
    async with launched(**ALONE) as world:
        assert await outcome(world) == ""
        assert world.pid_of("qemu")
        await world.until(world.socket.exists)
        await world.answers()
        assert '"Running"' in await world.launcher.domain()
        await world.launcher.kill(world.vmi())
        assert await world.ended() == 0


async def test_what_its_owner_should_know_is_told() -> None:
    async with launched(**ALONE) as world:
        told = await outcome(world, domain={"cpu": {"model": "host-passthrough"}})
        assert "host-passthrough" in told


async def test_a_guest_that_is_refused_leaves_nothing_but_the_reason() -> None:
    async with launched(**ALONE) as world:
        disks = [{"name": name, "disk": {}, "bootOrder": 1} for name in "ab"]
        volumes = [{"name": name, "emptyDisk": {"capacity": "1Mi"}} for name in "ab"]
        with pytest.raises(UserError, match="bootOrder"):
            await outcome(world, devices={"disks": disks}, volumes=volumes)
        assert not world.pid_of("qemu")
        assert not [path for path in (world.folder / "ephemeral").rglob("*") if path.is_file()]


@pytest.mark.parametrize("delay_s", [0.0, 0.05, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("who", ["manager", "libvirtd"])
async def test_who_is_killed_on_the_way_does_not_lose_the_commission(
    who: str, delay_s: float
) -> None:
    async with launched(**ALONE) as world:
        await world.until(lambda: world.pid_of(who))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(outcome(world))
            await asyncio.sleep(delay_s)
            world.kill(who)
        await world.until(world.socket.exists)
        await world.answers()
        assert len(world.qemus()) == 1
