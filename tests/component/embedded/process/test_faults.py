"""Somebody takes something away from a home that is up: it is back, and no pod is the worse for it."""

import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.component.embedded.process.conftest import Virtctl, a_home
from tests.component.embedded.process.leftovers import said
from tests.component.embedded.process.pods import api, comes_true, pod, ready, said_in, status_of

from kubevirt.api.scheme import NODES, PODS, SERVICES
from kubevirt.kube.client import Client
from kubevirt.kube.errors import InternalError

pytestmark = pytest.mark.timeout(240)

ASK = "import urllib.request as r; print(r.urlopen('http://web/', timeout=2).status)"


@pytest.fixture(scope="module")
def shared() -> Iterator[Virtctl]:
    with a_home() as virtctl:
        virtctl.up()
        yield virtctl


@pytest.fixture
async def client(shared: Virtctl) -> AsyncIterator[Client]:
    """Of a home with a Service, and a pod that asks it. After a fault, both are as they were."""
    async with api(shared) as client:
        if not (await client.list(SERVICES, "default", label_selector="app=web")).items:
            await _fill(client)
        await answered(client)
        yield client
        await answered(client)
        for name in ("web", "asking"):
            found = await ready(client, name)
            assert status_of(found).restart_count == 0


async def _fill(client: Client) -> None:
    ports = [{"port": 80, "targetPort": 8080}]
    service = {
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {"selector": {"app": "web"}, "ports": ports},
    }
    await client.create(SERVICES.raw, service, "default")
    await client.create(PODS.raw, pod("web", "exec python3 -m http.server 8080"), "default")
    await client.create(PODS.raw, pod("asking", "exec sleep 100000"), "default")
    for name in ("web", "asking"):
        await ready(client, name)


async def answered(client: Client) -> None:
    """By the Service's name: links, rules and names all work."""

    async def is_answered() -> bool:
        try:
            return b"200" in await said_in(client, "asking", "python3", "-c", ASK)
        except InternalError:  # the node itself cannot be reached for a moment
            return False

    await comes_true(is_answered)


def names_servers(virtctl: Virtctl) -> list[int]:
    """They are children of the process, by whichever of its threads. Threads and others of its children come and go."""
    pids = [
        pid
        for each in Path(f"/proc/{virtctl.pid}/task").glob("*/children")
        for pid in _text(each).split()
    ]
    return [int(pid) for pid in pids if _text(Path(f"/proc/{pid}/comm")) == "dnsmasq\n"]


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""


async def test_a_name_server_that_is_killed_comes_back(shared: Virtctl, client: Client) -> None:
    await answered(client)
    before = names_servers(shared)
    assert before
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    await answered(client)
    assert not set(names_servers(shared)) & set(before)


async def test_rules_that_are_removed_come_back(shared: Virtctl, client: Client) -> None:
    await answered(client)
    table = f"kubevirt-embedded-{shared.home.id}"
    before = _rules(table)
    assert "chain prerouting" in before

    async def are_back() -> bool:
        return _rules(table) == before

    for verb in ("flush", "delete"):
        said("nft", verb, "table", "inet", table)
        await comes_true(are_back)


def _rules(table: str) -> list[str]:
    """Without the ports of name servers, of which there may have been another one since, and without order,
    which means nothing in sets.
    """
    words = ["nft", "--stateless", "list", "table", "inet", table]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
    lines = (each for each in done.stdout.splitlines() if "ct zone" not in each)
    return sorted(
        re.sub(r":\d+$", "", part.replace("elements = {", "").strip(" \t,{}"))
        for line in lines
        for part in line.split(", ")
    )


async def test_links_that_are_removed_come_back(shared: Virtctl, client: Client) -> None:
    await answered(client)
    address = (await ready(client, "web")).status.pod_ip
    links = [
        each.split(": ")[1].partition("@")[0] for each in said("ip", "-o", "link").splitlines()
    ]
    of_pods = [each for each in links if each.startswith(f"kvp{shared.home.id[:4]}")]
    assert len(of_pods) == 2
    for link in (*of_pods, f"kvpy-{shared.home.id}"):
        said("ip", "link", "delete", link)
    await answered(client)
    assert (await ready(client, "web")).status.pod_ip == address


async def test_a_node_whose_object_is_removed_comes_back_with_its_pods(
    shared: Virtctl, client: Client
) -> None:
    async def is_well() -> bool:
        return bool((await client.list(NODES)).items) and shared("status").code == 0

    await client.delete(NODES, "node01")
    await comes_true(is_well)
