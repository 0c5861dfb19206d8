"""How long a Kubernetes to test on takes until it can be used, its programs being built: whole with one node and
with two, and light.
"""

import os
import time
from pathlib import Path
from typing import Final

from clusterup import binaries, cluster, light, progress, settings

NAME: Final = f"bench-{os.getpid()}"
LIMITS_S: Final = {"one node": 30.0, "two nodes": 45.0, "light": 5.0}
_NODES: Final = {"one node": 1, "two nodes": 2}


async def starts(folder: Path, times: int, say: progress.Progress) -> dict[str, list[float]]:
    """Seconds, by what it is."""
    wanted = settings.PROVIDERS / settings.KUBERNETES
    programs = binaries.Binaries(wanted, settings.cache_folder(os.environ))
    await programs.ensure([*cluster.PROGRAMS, *light.PROGRAMS], say)
    found: dict[str, list[float]] = {}
    for _ in range(times):
        for what, nodes in _NODES.items():
            one = a_cluster(folder / "start", nodes, say)
            found.setdefault(what, []).append(await _whole(one))
        found.setdefault("light", []).append(await _light())
    return found


def a_cluster(home: Path, nodes: int, say: progress.Progress) -> cluster.Cluster:
    chosen = settings.Settings(
        provider=settings.KUBERNETES,
        nodes=nodes,
        cache=settings.cache_folder(os.environ),
        home=home,
        name=NAME,
    )
    return cluster.Cluster(chosen, say)


async def _whole(one: cluster.Cluster) -> float:
    began = time.perf_counter()
    try:
        await one.up()
        return time.perf_counter() - began
    finally:
        await one.down()


async def _light() -> float:
    began = time.perf_counter()
    async with light.LightCluster():
        return time.perf_counter() - began
