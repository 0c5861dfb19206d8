"""Time in tests: a test marked `virtual_time` runs on a loop that jumps to the next timer.

    pytestmark = pytest.mark.virtual_time          # a whole file, or one test by decorator

    async def test_an_hour_is_instant(clock: Clock) -> None:
        await clock.sleep(3600)

Async fixtures of such a test run on the same loop. A wait that nothing can end raises `StuckError`
instead of hanging. Without the mark a test has the real loop and `clock` is the machine's, which is
what sockets, threads and other programs need.

A real API server and a guest to boot come from the plugins named below: `light_cluster`,
`start_light_cluster`, `guest_images`.
"""

import asyncio
import signal
from collections.abc import Callable, Mapping

import pytest
from hypothesis import settings
from tests import remnants

from kubevirt.base.clock import Clock, SystemClock
from kubevirt.base.virtual_time import VirtualClock, VirtualTimeLoop

pytest_plugins = ["clusterup.pytest_plugin", "guestimage.pytest_plugin", "tests.xdist_groups"]

# A busy machine is not a failing test: what must be fast is measured in bench/.
settings.register_profile("house", deadline=None)
settings.register_profile("thorough", settings.get_profile("house"), max_examples=2000)
settings.load_profile("house")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "virtual_time: runs under a VirtualTimeLoop")
    # Whoever ends a run, by whatever signal that can be heard: what its tests have made is taken away.
    # Programs of tests inherit it, too: those of a run in the background would be deaf to ^C.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.default_int_handler)


def pytest_sessionstart() -> None:
    remnants.take_down()


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    if item.get_closest_marker("virtual_time"):
        return {"virtual": VirtualTimeLoop}
    return {"system": asyncio.new_event_loop}


@pytest.fixture
def clock(request: pytest.FixtureRequest) -> Clock:
    """The clock to inject: virtual under the mark `virtual_time`, else the system's."""
    return VirtualClock() if request.node.get_closest_marker("virtual_time") else SystemClock()


@pytest.fixture
def virtual_clock(clock: Clock) -> VirtualClock:
    """The same clock, for tests that make wall time jump."""
    assert isinstance(clock, VirtualClock), "mark the test with pytest.mark.virtual_time"
    return clock
