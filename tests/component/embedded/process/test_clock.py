"""Somebody sets the clock of the machine: no pod is restarted, driven off or kept alive for it."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from tests.component.embedded.process.conftest import LIMIT_S, Virtctl
from tests.component.embedded.process.pods import COUNTING, api, pod, ready, restarts, until

from kubevirt.api.scheme import NODES, PODS
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound

pytestmark = pytest.mark.timeout(240)

PROGRAM = Path(__file__).parent / "shifted_program.py"
HOUR_S = 3600
DEAF = 'trap "" TERM; while :; do sleep 1; done'


@contextmanager
def running(virtctl: Virtctl, file: Path) -> Iterator[None]:
    words = [sys.executable, str(PROGRAM), str(file), "--home", str(virtctl.home.path)]
    reading, writing = os.pipe()
    with os.fdopen(reading) as report:
        try:
            words += ["--report", str(writing)]
            process = subprocess.Popen(words, env=virtctl.env, pass_fds=[writing])
        finally:
            os.close(writing)
        with process:
            try:
                _wait(report)
                yield
            finally:
                process.kill()


def _wait(report: IO[str]) -> None:
    """Until it is ready; why not, if it ends."""
    said: list[str] = []
    for line in report:
        said.append(line)
        if '"ready"' in line:
            return
    pytest.fail(f"it never was ready, and said: {said}")


def probed(name: str) -> dict[str, Any]:
    wanted = pod(name, COUNTING)
    probe = {"exec": {"command": ["true"]}, "periodSeconds": 1}
    wanted["spec"]["containers"][0] |= {"livenessProbe": probe, "readinessProbe": probe}
    return wanted


async def _check(client: Client, before: str, after: str) -> None:
    """Whoever was there goes on, and a new one comes up and goes."""
    await client.create(PODS.raw, probed(after), "default")
    await ready(client, after)
    assert restarts(await ready(client, before)) == 0
    (node,) = (await client.list(NODES)).items
    assert node.spec is not None
    assert not node.spec.taints
    await client.create(PODS.raw, pod(f"deaf-{after}", DEAF), "default")
    await ready(client, f"deaf-{after}")
    began = time.monotonic()
    await client.delete(PODS, f"deaf-{after}", "default", grace_period_s=2)
    await _gone(client, f"deaf-{after}")
    assert time.monotonic() - began >= 2


async def _gone(client: Client, name: str) -> None:
    async with asyncio.timeout(LIMIT_S):
        while True:
            try:
                await client.get(PODS, name, "default")
            except NotFound:
                return
            await asyncio.sleep(0.05)


async def test_a_clock_that_jumps_costs_no_pod_anything(virtctl: Virtctl) -> None:
    virtctl.up()
    virtctl("down")
    file = virtctl.folder / "ahead"
    file.write_text("0")
    with running(virtctl, file):
        async with api(virtctl) as client:
            await client.create(PODS.raw, probed("stays"), "default")
            await ready(client, "stays")
            failing = pod("failing", "exit 3")
            await client.create(PODS.raw, failing, "default")
            await until(client, "failing", lambda found: restarts(found) == 1)
            file.write_text(str(HOUR_S))
            await _check(client, "stays", "ahead")
            file.write_text(str(-HOUR_S))
            await _check(client, "stays", "back")
            # One that waits after a failure does not wait an hour longer.
            again = restarts(await client.get(PODS, "failing", "default"))
            await until(client, "failing", lambda found: restarts(found) > again)
    assert virtctl("up").code == 0  # by the true clock
    async with api(virtctl) as client:
        assert restarts(await ready(client, "stays")) == 0
