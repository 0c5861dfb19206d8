"""For pytest: `kubevirt_home`, a home with KubeVirt in it for all tests of a process.

# conftest.py
pytest_plugins = ["kubevirt.testing.pytest_plugin"]

# test_mine.py
async def test_my_operator(kubevirt_home: TrialHome) -> None:
    async with kubevirt_home.client() as api:
        ...
"""

import os
from collections.abc import Iterator

import pytest

from kubevirt.testing.home import TrialHome, a_home, virtctl_program


@pytest.fixture(scope="session")
def kubevirt_home() -> Iterator[TrialHome]:
    if os.geteuid() != 0:
        pytest.skip("a home makes networks and sandboxes: run as root")
    if not virtctl_program().exists():
        pytest.skip("there is no virtctl beside this Python; install kubevirt-py there")
    with a_home() as home:
        yield home
