"""A process killed at any moment while pods come and go: the next one finds them, and nothing else."""

import asyncio
import os
import random
import sys
from pathlib import Path

import msgspec
from tests.component.embedded.network import world as worlds
from tests.component.embedded.network.world import World, a_pod, a_world
from tests.component.host.net_world import a_web_server, fetch, links_in

from kubevirt.api.core.pod import Pod
from kubevirt.host.net.netns import Namespace

pytestmark = worlds.marks

BUILDER = Path(__file__).parent / "builder.py"
KILLS = int(os.environ.get("SOAK_NETWORK_KILLS", "4"))
LONGEST_S = 0.6


async def test_a_process_that_is_killed_leaves_nothing_that_the_next_does_not_find(
    tmp_path: Path,
) -> None:
    async with a_world(tmp_path) as world:
        pods = [a_pod(f"pod-{number}") for number in range(4)]
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        for attempt in range(KILLS):
            await world.down()
            await _killed(world, pods, chance.random() * LONGEST_S)
            await world.up()
            why = f"seed {seed}, attempt {attempt}"
            await _found(world, pods, why)


async def _killed(world: World, pods: list[Pod], after_s: float) -> None:
    settings = msgspec.json.encode(world.settings, enc_hook=str).decode()
    uids = [pod.metadata.uid for pod in pods]
    server = world.client.config.server
    builder = await asyncio.create_subprocess_exec(
        *(sys.executable, str(BUILDER), str(world.machine.fd), settings, server, *uids),
        stdout=asyncio.subprocess.PIPE,
        pass_fds=[world.machine.fd],
    )
    try:
        assert builder.stdout is not None
        async with asyncio.timeout(60):
            assert await builder.stdout.readline() == b"ready\n"
        await asyncio.sleep(after_s)  # any moment is as good as another
    finally:
        builder.kill()
        await builder.wait()


async def _found(world: World, pods: list[Pod], why: str) -> None:
    """Two are wanted by now, and two are not."""
    node, settings = world.networks.node("node01"), world.settings
    wanted = pods[:2]
    networks = [await node.set_up(pod) for pod in wanted]
    for pod in pods[2:]:
        await node.tear_down(pod.metadata.uid)
    links = {name for name in links_in(world.machine) if name.startswith(settings.link_prefix)}
    assert links == {settings.link(pod.metadata.uid) for pod in wanted}, why
    left = await asyncio.to_thread(_files, settings.folder)
    names = {pod.metadata.uid for pod in wanted}
    assert left == {"leases": {f"{name}.json" for name in names}, "pods": names}, why
    with Namespace.at(networks[0].namespace) as one, Namespace.at(networks[1].namespace) as other:
        address = networks[1].addresses[0]
        async with a_web_server(other, address, 80, "found"):
            assert await fetch(one, f"http://{address}") == "found", why


def _files(folder: Path) -> dict[str, set[str]]:
    return {name: {each.name for each in (folder / name).iterdir()} for name in ("leases", "pods")}
