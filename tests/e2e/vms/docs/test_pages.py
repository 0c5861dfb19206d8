"""What documentation tells its readers to type works, all of it, in the order in which it stands there."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from tests.e2e.vms import shared_home
from tests.e2e.vms.docs.page import Block, Reader, blocks, fenced
from tests.e2e.vms.objects import a_disk, a_vmi
from tests.e2e.vms.place import LIMIT_S, RETRY_S, Place

from kubevirt.testing.home import virtctl_program

ROOT = Path(__file__).parents[4]
PAGES = ("first-vm", "run-strategies", "access", "networking", "storage", "troubleshooting")


PROGRAMS = re.compile(r"^\s*(?:sudo )?(?:kubectl|virtctl|make|\.venv/bin/\w+) ", re.MULTILINE)


def text_of(page: str) -> str:
    return (ROOT / "docs" / f"{page}.md").read_text()


@pytest.fixture
def reader(place: Place, tmp_path: Path) -> Iterator[Reader]:
    with a_reader(place, tmp_path) as reader:
        yield reader


@pytest.fixture
def owner(own_place: Place, tmp_path: Path) -> Iterator[Reader]:
    """Whose home it is."""
    with a_reader(own_place, tmp_path) as reader:
        yield reader


@contextmanager
def a_reader(place: Place, tmp_path: Path) -> Iterator[Reader]:
    """In the namespace of the test, which is the one that their kubeconfig names."""
    config = yaml.safe_load(place.home.kubeconfig.read_text())
    for each in config["contexts"]:
        each["context"]["namespace"] = place.namespace
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(config))
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "kubectl").symlink_to(shared_home.kubectl_program())
    (programs / "virtctl").symlink_to(virtctl_program())
    reader = Reader(
        {
            **place.home.environment,
            "KUBECONFIG": str(kubeconfig),
            "PATH": f"{programs}:{place.home.environment['PATH']}",
        },
        ROOT,
        tmp_path,
    )
    try:
        yield reader
    finally:
        reader.leave()


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("page", PAGES)
async def test_the_commands_of_a_page_work(page: str, reader: Reader) -> None:
    for block in blocks(text_of(page)):
        if not block.is_of_the_home:
            reader.do(block)


@pytest.mark.timeout(1200)
def test_make_up_of_a_page_ends_at_a_machine_that_one_can_log_in_to(
    owner: Reader, own_place: Place
) -> None:
    (block,) = of_the_home("first-vm")
    assert own_place.virtctl("down").code == 0
    assert "testvm can be logged in to" in owner.do(block)


def test_a_gate_is_opened_as_a_page_says(owner: Reader, own_place: Place) -> None:
    (block,) = of_the_home("storage")
    on_node = {
        "hostDisk": {"path": "/var/data/disk.img", "type": "DiskOrCreate", "capacity": "8Mi"}
    }
    wanted = json.dumps(a_vmi("on-node", volumes=[a_disk("node", on_node)]))
    attempt = ("create", "--dry-run=server", "--filename=-")
    assert "HostDisk feature gate is not enabled" in own_place.kubectl(*attempt, typed=wanted).err
    owner.do(block)
    deadline = time.monotonic() + LIMIT_S
    while own_place.kubectl(*attempt, typed=wanted).code:
        assert time.monotonic() < deadline
        time.sleep(RETRY_S)


def of_the_home(page: str) -> list[Block]:
    return [block for block in blocks(text_of(page)) if block.is_of_the_home]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_commands_and_all_of_them_are_run(page: str) -> None:
    assert list(blocks(text_of(page)))
    read = [block for block in fenced(text_of(page)) if not block.is_run]
    assert not [block.line for block in read if PROGRAMS.search(block.commands)]
