"""What a cluster leaves on the machine: nothing, however it ended."""

import asyncio
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from tests.cluster.support import (
    LIMIT_S,
    SCRIPTS,
    Provider,
    bring_down,
    kernel_settings,
    leftovers,
    namespaces,
    until_nothing_is_left,
)

from clusterup import binaries, cluster, settings

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1200)]


async def test_a_cluster_that_was_stopped_leaves_nothing(provider: Provider) -> None:
    before = kernel_settings()
    outcome = await provider.run("up.sh")
    assert outcome.code == 0, outcome.stderr
    assert len(leftovers(provider)) > 10
    assert {each.partition(":")[0] for each in namespaces(provider)} >= {"ipc", "mnt", "net", "pid"}
    assert kernel_settings() == before
    await bring_down(provider, before)


async def begin(provider: Provider, step: str) -> asyncio.subprocess.Process:
    """Start cluster-up and return when it says that it has begun a step."""
    process = await asyncio.create_subprocess_exec(
        # Whoever runs the tests in the background has them ignore what a terminal would send.
        *("env", "--default-signal", SCRIPTS / "up.sh"),
        env=dict(provider.environment),
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    async with asyncio.timeout(LIMIT_S):
        async for line in process.stderr:
            if step in line.decode():
                return process
    raise AssertionError(f"cluster-up ended before {step!r}")


@pytest.mark.parametrize(
    ("step", "delay_s"),
    [
        ("making 1 node", 0),
        ("making 1 node", 0.4),
        ("starting the control plane", 0),
        ("starting the control plane", 0.4),
        ("starting the nodes", 0.4),
    ],
)
async def test_a_killed_cluster_up_is_cleared_away_by_cluster_down(
    provider: Provider, step: str, delay_s: float
) -> None:
    process = await begin(provider, step)
    # Not a wait for something, but another place to be killed at, somewhere within the step.
    await asyncio.sleep(delay_s)
    process.send_signal(signal.SIGKILL)
    await process.wait()
    again = await provider.run("up.sh")
    assert again.code == 1
    assert "was left half way" in again.stderr
    assert "make cluster-down" in again.stderr
    outcome = await provider.run("down.sh")
    assert outcome.code == 0, outcome.stderr
    await until_nothing_is_left(provider)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_an_interrupted_cluster_up_clears_away_what_it_started(
    provider: Provider, number: signal.Signals
) -> None:
    process = await begin(provider, "starting the control plane")
    process.send_signal(number)
    assert process.stderr is not None
    said = (await process.stderr.read()).decode()
    assert await process.wait() == 130
    assert "interrupted" in said
    assert "Traceback" not in said
    await until_nothing_is_left(provider)


async def test_a_program_that_fails_is_named_and_its_log_kept(
    provider: Provider, tmp_path: Path
) -> None:
    etcd = cache_of_links(tmp_path / "cache").path("etcd")
    etcd.unlink()
    etcd.write_text("#!/bin/sh\necho no room for another key\nexit 7\n")
    etcd.chmod(0o755)
    outcome = await provider.run("up.sh", KUBEVIRT_CACHE=str(tmp_path / "cache"))
    assert outcome.code == 1
    assert "etcd ended with code 7" in outcome.stderr
    assert "no room for another key" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    kept = provider.home.with_name(f"{provider.name}.failed") / "control-plane" / "etcd.log"
    assert str(kept.parent.parent) in outcome.stderr
    assert kept.read_text() == "no room for another key\n"
    await until_nothing_is_left(provider)


def cache_of_links(folder: Path) -> binaries.Binaries:
    """The programs in a cache of the test's own, of which some can be replaced."""
    where = settings.PROVIDERS / settings.KUBERNETES
    real = binaries.Binaries(where, settings.cache_folder(os.environ))
    ours = binaries.Binaries(where, folder)
    for name in cluster.PROGRAMS:
        ours.path(name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(real.path(name), ours.path(name))
        except OSError:
            shutil.copy(real.path(name), ours.path(name))
    return ours


async def test_cluster_down_without_a_cluster_says_so(provider: Provider) -> None:
    outcome = await provider.run("down.sh")
    assert outcome.code == 0
    assert f"no cluster {provider.name} is up" in outcome.stderr
