"""A home with more nodes than before, or fewer."""

import pytest
from tests.component.embedded.process.conftest import Virtctl
from tests.component.embedded.process.leftovers import left_of
from tests.component.embedded.process.pods import (
    COUNTING,
    api,
    is_ready,
    pod,
    ready,
    said_in,
    status_of,
    until,
)

from kubevirt.api.scheme import LEASES, NODES, PODS
from kubevirt.kube.client import Client

pytestmark = pytest.mark.timeout(240)


async def nodes(client: Client) -> list[str]:
    return [str(each.metadata.name) for each in (await client.list(NODES)).items]


async def _pod_on(client: Client, node: str, name: str) -> None:
    where = {"kubernetes.io/hostname": node}
    await client.create(PODS.raw, pod(name, COUNTING, nodeSelector=where), "default")
    await ready(client, name)


async def test_a_node_that_the_home_has_no_more_goes_with_its_pods_and_may_come_back(
    virtctl: Virtctl,
) -> None:
    virtctl.up("--nodes", "2")
    async with api(virtctl) as client:
        await _pod_on(client, "node01", "stays")
        await _pod_on(client, "node02", "goes")
        by_hand = {"metadata": {"name": "by-hand"}}
        await client.create(NODES.raw, by_hand)
    assert virtctl("down").code == 0

    done = virtctl("up", "--nodes", "1")
    assert done.code == 0, done.err
    async with api(virtctl) as client:
        assert await nodes(client) == ["by-hand", "node01"]
        again = await until(
            client, "stays", lambda found: status_of(found).restart_count == 1 and is_ready(found)
        )
        assert [each.metadata.name for each in (await client.list(PODS)).items] == ["stays"]
        assert again.spec is not None
        assert again.spec.node_name == "node01"
    assert [each.name for each in (virtctl.home.path / "nodes").iterdir()] == ["node01"]
    assert virtctl("down").code == 0

    assert virtctl("up", "--nodes", "2").code == 0
    async with api(virtctl) as client:
        assert await nodes(client) == ["by-hand", "node01", "node02"]
        leases = [str(each.metadata.name) for each in (await client.list(LEASES)).items]
        assert {"node01", "node02"} <= set(leases)
        await _pod_on(client, "node02", "comes")
        assert await said_in(client, "comes", "hostname") == b"comes\n"
    home_id = virtctl.home.id
    assert virtctl("down").code == 0
    assert left_of(virtctl.home.path, home_id) == []
