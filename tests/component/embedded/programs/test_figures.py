"""Figures of programs that are tasks of the home's process."""

import json
import os
import platform
from collections.abc import AsyncIterator, Iterator

import pytest
from tests.component.embedded.process.leftovers import left_of
from tests.component.embedded.programs.figures import doors, is_well, page, until_told

from kubevirt.base.semantic_version import VERSION
from kubevirt.embedded.home import Home
from kubevirt.kube.client import Client
from kubevirt.testing.home import TrialHome, a_home

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("figures"),
    pytest.mark.skipif(os.geteuid() != 0, reason="an embedded home is root's: run as root"),
]


@pytest.fixture(scope="module")
def home() -> Iterator[TrialHome]:
    with a_home("--nodes=2") as found:
        own = Home(found.path)
        home_id = own.id
        yield found
        assert found.virtctl("down").code == 0
        assert left_of(found.path, home_id) == []


@pytest.fixture
async def api(home: TrialHome) -> AsyncIterator[Client]:
    async with home.client() as client:
        yield client


async def test_programs_tell_how_they_are_also_as_tasks_of_one_process(
    home: TrialHome, api: Client
) -> None:
    """virt-controller and virt-handler had figures only as processes of their own."""
    own = Home(home.path)
    wanted = {
        "virt-api": ["kubevirt_virt_api_ready_status 1.0"],
        "virt-controller": [
            "kubevirt_virt_controller_ready_status 1.0",
            "kubevirt_virt_controller_leading_status 1.0",
            'kubevirt_workqueue_depth{name="virt-controller-vmi"} 0.0',
        ],
        "virt-handler-node01": [
            "kubevirt_virt_handler_ready_status 1.0",
            'kubevirt_workqueue_depth{name="virt-handler"} 0.0',
        ],
        "virt-handler-node02": ["kubevirt_virt_handler_ready_status 1.0"],
    }
    labels = f'goversion="python{platform.python_version()}",kubeversion="{VERSION}"'
    for program, lines in wanted.items():
        await until_told(api, own, program, [*lines, f"kubevirt_info{{{labels}}} 1.0"])
        assert await is_well(api, own, program) == "ok"
    assert set(await doors(api)) == set(wanted)
    leader = await page(api, own, "virt-controller", "/leader")
    assert json.loads(leader) == {"apiserver": {"leader": "true"}}
