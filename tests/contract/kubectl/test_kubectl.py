"""One script with stock kubectl, run on both servers: what it prints must be the same.

What the servers make up is left aside (`normal.py`), and so are the descriptions of built-in kinds,
which are ours or absent. A chapter that differs shows where, as a diff from Kubernetes to ours.
"""

import asyncio
from difflib import unified_diff

import pytest
from tests.contract.kubectl import normal, script
from tests.contract.kubectl.script import CHAPTERS, Kubectl

from clusterup import waiting
from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer
from clusterup.pytest_plugin import session_loop

_CONTEXT_LINES = 8
"""Enough to see the command above a line that differs."""
_KETTLES = "/apis/kitchen.example/v1/kettles"
_SCHEMA = "/openapi/v3/apis/kitchen.example/v1"


@pytest.fixture(scope="session")
def both(light_cluster: LightCluster, embedded_server: EmbeddedServer) -> tuple[Kubectl, Kubectl]:
    """Servers that know kettles."""
    with session_loop() as loop:
        loop.run(_define_kettles(light_cluster))
        loop.run(_define_kettles(embedded_server))
    return light_cluster, embedded_server


@pytest.mark.timeout(600)
@pytest.mark.parametrize("chapter", CHAPTERS)
async def test_kubectl_says_the_same_of_both(chapter: str, both: tuple[Kubectl, Kubectl]) -> None:
    real, ours = await asyncio.gather(*(_told(server, chapter) for server in both))
    different = unified_diff(real, ours, "kubernetes", "embedded", n=_CONTEXT_LINES, lineterm="")
    if lines := list(different):
        pytest.fail("\n".join(lines), pytrace=False)


async def _told(server: Kubectl, chapter: str) -> list[str]:
    """By line, in a namespace of the chapter's own."""
    namespace = f"kubectl-{chapter}"
    await script.kubectl(server, "create", "namespace", namespace)
    try:
        await script.kubectl(
            *(server, "wait", "serviceaccount/default", "--for=create", "--timeout=100s"),
            namespace=namespace,
        )
        said = await script.run(server, namespace, script.steps(chapter))
    finally:
        await _clear(server, namespace)
    return "".join(map(normal.text, said)).splitlines()


async def _clear(server: Kubectl, namespace: str) -> None:
    """Pods at once: no node confirms that they ended, and chapters share the name of a node."""
    await script.kubectl(
        *(server, "delete", "pods", "--all", "--force", "--grace-period=0"), namespace=namespace
    )
    await script.kubectl(server, "delete", "namespace", namespace, "--wait=false")


async def _define_kettles(server: Kubectl) -> None:
    await script.kubectl(server, "apply", "-f", "kettles-crd.yaml")

    async def are_known() -> bool:
        asked = [await script.kubectl(server, "get", "--raw", path) for path in (_KETTLES, _SCHEMA)]
        return all(each.code == 0 for each in asked)

    await waiting.until(are_known, limit_s=120, what="kettles are served")
