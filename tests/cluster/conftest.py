"""Whole clusters, for tests that run pods. Light ones come from the plugin of the top conftest.

    pytest tests/cluster -n 3 --dist=loadgroup

Clusters are dear, so tests that share one share a worker; those of different workers run side by side, which
they must be able to. How many is limited by a kernel that lets a user have 128 instances of inotify: a whole
cluster of two nodes takes 32, a light one 13.
"""

import os
import subprocess
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.cluster.support import (
    LIMIT_S,
    SCRIPTS,
    TOOLS,
    Provider,
    bring_down,
    kernel_settings,
    make_provider,
    tools_image,
)

from clusterup import binaries, cluster, errors, images, preflight, settings, waiting
from clusterup.pytest_plugin import session_loop

WANTED = (*cluster.PROGRAMS, "probe")


GROUPS = {
    "two_nodes": "whole",
    "provider": "traces",
    "light_programs": "light",
}
"""By the fixture that makes the cluster; the first one that a test has counts."""


@pytest.hookimpl(tryfirst=True)  # before xdist looks for groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent not in item.path.parents:
            continue
        wanted = getattr(item, "fixturenames", ())
        if group := next((group for name, group in GROUPS.items() if name in wanted), None):
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session")
def whole_programs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skip where a whole cluster cannot run, and say what would make it run."""
    programs = binaries.Binaries(
        settings.PROVIDERS / settings.KUBERNETES, settings.cache_folder(os.environ)
    )
    try:
        preflight.check(tmp_path_factory.getbasetemp(), programs, WANTED)
    except errors.Missing as reason:
        pytest.skip(str(reason))
    if programs.missing(WANTED):
        pytest.skip("the programs are not built yet; run `cluster-up/cli.sh build` (minutes, once)")


@pytest.fixture
def provider(whole_programs: None, tmp_path: Path) -> Iterator[Provider]:
    """A cluster to be started by the test; stopped after it, whatever happened."""
    one = make_provider(tmp_path)
    yield one
    subprocess.run([SCRIPTS / "down.sh"], env=dict(one.environment), check=True, timeout=LIMIT_S)


@pytest.fixture(scope="session")
def two_nodes(whole_programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    """A cluster of two nodes with the test image in its registry, for the whole session; and after all that its
    pods have done, nothing left of it.
    """
    before = kernel_settings()
    one = make_provider(tmp_path_factory.mktemp("cluster"), nodes=2)
    with session_loop() as loop:
        try:
            outcome = loop.run(one.run("up.sh"))
            assert outcome.code == 0, outcome.stderr
            registry = loop.run(one.info())["registry"]
            loop.run(images.push(registry, TOOLS, tools_image()))
            yield one
        finally:
            loop.run(bring_down(one, before))


@pytest.fixture(scope="session")
def facts(two_nodes: Provider) -> dict[str, Any]:
    """What is known of that cluster: addresses, files."""
    with session_loop() as loop:
        return loop.run(two_nodes.info())


@pytest_asyncio.fixture
async def namespace(two_nodes: Provider) -> AsyncIterator[str]:
    """A namespace of the test's own, whose pods can be created at once."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    await two_nodes.kubectl("create", "namespace", name)

    async def has_account() -> bool:
        return (await two_nodes.run("kubectl.sh", "get", "sa", "default", "-n", name)).code == 0

    await waiting.until(has_account, limit_s=LIMIT_S, what=f"the service account of {name}")
    yield name
    await two_nodes.kubectl("delete", "namespace", name, "--wait=false")
