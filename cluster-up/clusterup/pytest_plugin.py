"""Fixtures for suites that need a Kubernetes API server.

Name this module in `pytest_plugins` of the top-level conftest, then ask for `light_cluster`, or for
`start_light_cluster` where a test breaks what it uses.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any

import pytest
import pytest_asyncio

from clusterup import binaries, errors, light, progress, settings


@pytest.fixture(scope="session")
def light_cluster(light_programs: None) -> Iterator[light.LightCluster]:  # noqa: ARG001
    """One light cluster for the whole session (of each xdist worker). Tests share it: give
    everything a namespace or a name of your own.
    """
    # Nodes of tests are objects without a kubelet: nobody shall find out that they are silent.
    cluster = light.LightCluster(manager_flags={"node-monitor-grace-period": "1h"})
    with session_loop() as loop:
        loop.run(cluster.start())
        try:
            yield cluster
        finally:
            loop.run(cluster.stop())


def session_loop() -> asyncio.Runner:
    """A loop for fixtures that outlive a test. pytest-asyncio has one too, but ends it with each
    test where a conftest chooses loops by test. With a factory of its own the runner leaves the
    thread's current event loop alone, which is pytest's.
    """
    return asyncio.Runner(loop_factory=asyncio.new_event_loop)


@pytest_asyncio.fixture
async def start_light_cluster(
    light_programs: None,  # noqa: ARG001  # asked for so that it may skip
) -> AsyncIterator[Callable[..., Awaitable[light.LightCluster]]]:
    """A function that starts a light cluster of one's own, to be broken at will. It takes the
    arguments of `LightCluster`; what it started is stopped when the test ends.
    """
    async with contextlib.AsyncExitStack() as stack:

        async def start(**arguments: Any) -> light.LightCluster:
            return await stack.enter_async_context(light.LightCluster(**arguments))

        yield start


@pytest.fixture(scope="session")
def light_programs() -> None:
    """Skip where the programs are neither built nor can be."""
    skip_without(_programs(), light.PROGRAMS)


def pytest_collection_finish(session: pytest.Session) -> None:
    build_for(session, "light_programs", _programs(), light.PROGRAMS, "light cluster")


def skip_without(programs: binaries.Binaries, wanted: Sequence[str]) -> None:
    if programs.missing(wanted):
        try:
            binaries.find_go()
        except errors.Missing as reason:
            pytest.skip(str(reason))


def build_for(
    session: pytest.Session,
    fixture: str,
    programs: binaries.Binaries,
    wanted: Sequence[str],
    title: str,
) -> None:
    """Build what the collected tests that use a fixture will need. It takes minutes the first time, and
    when tests have just been collected no time limit of any is running.
    """
    is_wanted = any(fixture in getattr(item, "fixturenames", ()) for item in session.items)
    if session.config.option.collectonly or not is_wanted or not programs.missing(wanted):
        return
    capture = session.config.pluginmanager.getplugin("capturemanager")
    shown = capture.global_and_fixture_disabled() if capture else contextlib.nullcontext()
    # Without Go there is nothing to build with: the fixture says so and skips.
    with shown, session_loop() as loop, contextlib.suppress(errors.Missing):
        loop.run(programs.ensure(wanted, progress.Progress(title)))


def _programs() -> binaries.Binaries:
    return binaries.Binaries(
        settings.PROVIDERS / settings.KUBERNETES, settings.cache_folder(os.environ)
    )
