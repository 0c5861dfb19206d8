"""The embedded home as a cluster to test on: the same scripts as for the real Kubernetes."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cluster.support import LIMIT_S, SCRIPTS, Provider

from clusterup import processes, settings
from clusterup.pytest_plugin import session_loop
from kubevirt.base.commands import SEARCH_PATH

USUAL = Path("/var/lib/kubevirt-cluster-up/embedded")
OWN_NETWORK = Path("/proc/self/ns/net").readlink()
# In turn with the test that looks whether the machine forwards as before: a home changes that.
pytestmark = [pytest.mark.timeout(1200), pytest.mark.xdist_group("traces")]


@contextmanager
def a_home() -> Iterator[Provider]:
    """A home of the test's own, not up yet; gone afterwards, whatever happened."""
    if os.geteuid() != 0:
        pytest.skip("an embedded home is root's: run as root")
    # Not pytest's own folder: the path of a home has to be short.
    folder = Path(tempfile.mkdtemp(prefix="kvc-", dir="/tmp"))
    environment = {
        "PATH": SEARCH_PATH,
        "HOME": str(folder),
        "KUBEVIRT_CACHE": str(settings.cache_folder(os.environ)),
        "KUBEVIRT_CLUSTER_UP_HOME": str(folder),
        "KUBEVIRT_NUM_NODES": "2",
    }
    try:
        yield Provider(environment, "embedded")
    finally:
        down = [SCRIPTS / "down.sh"]
        ended = subprocess.run(down, env=environment, check=False, timeout=LIMIT_S)
        shutil.rmtree(folder, ignore_errors=True)
        assert ended.returncode == 0


@pytest.fixture(scope="module")
def embedded() -> Iterator[Provider]:
    """One that is up."""
    with a_home() as home:
        with session_loop() as loop:
            started = loop.run(home.run("up.sh"))
        assert started.code == 0, started.stderr
        yield home


async def test_the_scripts_work_on_it(embedded: Provider) -> None:
    assert await embedded.kubectl("get", "nodes", "-o", "name") == "node/node01\nnode/node02\n"
    assert (await embedded.run("up.sh")).code == 3
    listed = await embedded.run("cli.sh", "ls")
    assert listed.stdout.split() == ["node01", "ready", "node02", "ready"]
    assert (await embedded.info())["state"] == "up"
    status = await embedded.run("virtctl.sh", "status")
    assert (status.code, "node02      ready" in status.stdout) == (0, True)
    assert "Kubernetes Version: v1.34" in (await embedded.run("virtctl.sh", "version")).stdout
    assert (await embedded.run("cli.sh", "logs")).stdout.split() == ["node01", "process"]
    log = await embedded.run("cli.sh", "logs", "node01", "process")
    assert '"msg": "ready"' in log.stdout
    refused = await embedded.run("cli.sh", "ssh", "node09")
    assert (refused.code, "there are node01, node02" in refused.stderr) == (1, True)


async def test_a_kubectl_that_could_not_exec_is_not_taken(
    embedded: Provider, tmp_path: Path
) -> None:
    """That of Debian 12 speaks only SPDY there; it tells its version like this."""
    old = tmp_path / "kubectl"
    told = 'Client Version: version.Info{Major:"1", Minor:"20", GitVersion:"v1.20.2"}'
    old.write_text(f"#!/bin/sh\necho '{told}'\n")
    old.chmod(0o755)
    path = f"{tmp_path}:{embedded.environment['PATH']}"
    listed = await embedded.run("kubectl.sh", "get", "nodes", "-o", "name", PATH=path)
    assert listed.stdout == "node/node01\nnode/node02\n", listed.stderr


@pytest.mark.skipif(
    USUAL.exists(), reason=f"{USUAL} comes first: end that cluster with `make cluster-down`"
)
async def test_where_no_cluster_is_named_kubectl_is_for_the_home_of_make_up(
    embedded: Provider,
) -> None:
    plain = {**embedded.environment, "KUBEVIRT_HOME": str(embedded.home)}
    del plain["KUBEVIRT_CLUSTER_UP_HOME"]
    words = ("get", "nodes", "-o", "name")
    listed = await processes.run(SCRIPTS / "kubectl.sh", *words, env=plain, check=False)
    assert listed.stdout == "node/node01\nnode/node02\n", listed.stderr


async def test_a_node_is_entered(embedded: Provider) -> None:
    networks = [
        (await embedded.run("cli.sh", "ssh", node, "readlink", "/proc/self/ns/net")).stdout
        for node in ("node01", "node02")
    ]
    assert networks[0] == f"{OWN_NETWORK}\n"
    assert networks[1].startswith("net:[")
    assert networks[0] != networks[1]


async def test_the_checkout_is_brought_into_it_while_pods_go_on(embedded: Provider) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "stays", "namespace": "default"},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "main", "image": "kubevirt.io/built-in"}],
        },
    }
    await embedded.apply(pod)
    await embedded.until_ready("default", "stays")
    container = ("get", "pod", "stays", "-o", "jsonpath={.status.containerStatuses[0].containerID}")
    before, ran = (await embedded.info())["process"], await embedded.kubectl(*container)
    done = await embedded.run("sync.sh")
    assert (done.code, f"process {before['pid']} was replaced" in done.stderr) == (0, True)
    after = (await embedded.info())["process"]
    assert after["pid"] != before["pid"]
    assert (after["url"], after["nodes"]) == (before["url"], before["nodes"])
    assert await embedded.kubectl(*container) == ran
    assert (await embedded.run("virtctl.sh", "status")).code == 0
    await embedded.kubectl("delete", "pod", "stays", "--timeout=60s")


async def test_nothing_is_brought_into_a_cluster_that_is_not_up() -> None:
    with a_home() as home:
        refused = await home.run("sync.sh")
    assert (refused.code, "no cluster embedded is up" in refused.stderr) == (1, True)


async def test_nothing_is_left_of_it() -> None:
    with a_home() as home:
        assert (await home.run("up.sh")).code == 0
        assert (await home.run("down.sh")).code == 0
        assert not home.home.exists()
        again = await home.run("down.sh")
        assert (again.code, "nothing is up" in again.stderr) == (0, True)
