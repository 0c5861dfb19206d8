"""What documentation tells its readers to type works, all of it, in the order in which it stands there."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.e2e.vms import shared_home
from tests.e2e.vms.docs.page import Reader, blocks
from tests.e2e.vms.place import Place

from kubevirt.testing.home import virtctl_program

ROOT = Path(__file__).parents[4]
PAGES = ("first-vm", "run-strategies", "access", "networking", "storage", "troubleshooting")


@pytest.fixture
def reader(place: Place, tmp_path: Path) -> Iterator[Reader]:
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
    yield reader
    reader.leave()


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("page", PAGES)
async def test_the_commands_of_a_page_work(page: str, reader: Reader, place: Place) -> None:
    told = (ROOT / "docs" / f"{page}.md").read_text()
    for block in blocks(told):
        reader.do(block)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_commands(page: str) -> None:
    assert list(blocks((ROOT / "docs" / f"{page}.md").read_text()))
