"""A server that goes away while somebody waits, and one on which there is no KubeVirt."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clusterup import waiting
from clusterup.light_embedded import EmbeddedServer
from kubevirt.api import crds
from kubevirt.base import commands
from kubevirt.cli import exit_codes
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound

LIMIT_S = 120.0
PLURAL = "virtualmachineinstances"
PATH = f"/apis/kubevirt.io/v1/namespaces/default/{PLURAL}"
GUEST = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachineInstance",
    "metadata": {"name": "testvm"},
    "spec": {"domain": {"devices": {}, "memory": {"guest": "64Mi"}}},
}


@pytest.fixture
async def bare() -> AsyncIterator[EmbeddedServer]:
    """With the kind of an instance, and nobody who does anything about it."""
    async with EmbeddedServer(has_audit_log=True) as server:
        (definition,) = [each for each in crds.load() if each["spec"]["names"]["plural"] == PLURAL]
        async with Client(kubeconfig.load([server.kubeconfig], {})) as client:
            await client.raw(
                "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition
            )

            async def is_served() -> bool:
                try:
                    await client.raw("GET", PATH)
                except NotFound:
                    return False
                return True

            await waiting.until(is_served, limit_s=LIMIT_S, what="instances are served")
        yield server


def argv(server: EmbeddedServer, *words: str) -> list[str]:
    common = ["--kubeconfig", str(server.kubeconfig)]
    return [sys.executable, "-W", "error", "-m", "kubevirt.cli", *words, *common]


def lists(server: EmbeddedServer) -> int:
    """How often virtctl has asked so far how the guest is."""
    lines = (server.folder / "audit.log").read_text().splitlines()
    events: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return sum(
        each["verb"] == "list" and "fieldSelector=metadata.name" in each["requestURI"]
        for each in events
    )


async def test_who_waits_outlasts_a_restart_of_the_server(bare: EmbeddedServer) -> None:
    program, *rest = argv(bare, "console", "testvm", "--wait")
    async with asyncio.TaskGroup() as tasks:
        waits = tasks.create_task(commands.run(program, *rest, timeout_s=4 * LIMIT_S, check=False))

        async def has_asked(times: int) -> bool:
            return waits.done() or lists(bare) >= times

        await waiting.until(lambda: has_asked(1), limit_s=LIMIT_S, what="virtctl waits")
        await bare.kill_apiserver()
        await bare.start_apiserver()
        await waiting.until(lambda: has_asked(2), limit_s=LIMIT_S, what="it waits again")
        async with Client(kubeconfig.load([bare.kubeconfig], {})) as client:
            await client.raw("POST", PATH, {**GUEST, "status": {"phase": "Running"}})
        done = await waits
    assert done.exit_code == exit_codes.NOT_FOUND
    assert b"does not serve subresources.kubevirt.io: KubeVirt is not installed" in done.stderr


async def test_a_server_that_never_answered_is_not_waited_for() -> None:
    program, *rest = [sys.executable, "-m", "kubevirt.cli", "console", "testvm", "--wait"]
    done = await commands.run(
        program, *rest, "--server", "https://127.0.0.1:1", timeout_s=LIMIT_S, check=False
    )
    assert done.exit_code == exit_codes.FAILED
    assert b"refuses connections" in done.stderr
