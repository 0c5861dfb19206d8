"""Every example of KubeVirt's that can run without a cluster does; every other one says why not."""

from pathlib import Path

import pytest
from tests import upstream
from tests.e2e.examples import page
from tests.e2e.examples.upstream import Example, Outcome, examples, outcome
from tests.e2e.standalone.driver import Machine

from guestimage import image

pytestmark = [
    pytest.mark.timeout(300),
    upstream.needed,
]


@pytest.mark.parametrize("example", examples(), ids=lambda each: each.name)
def test_an_example_runs_to_a_login_or_says_why_not(
    example: Example,
    machine: Machine,
    guest_images: image.Images,
    tmp_path: Path,
    outcomes: dict[str, Outcome],
) -> None:
    found = outcomes[example.name] = outcome(machine, example, guest_images, tmp_path)
    assert found.runs == (example.is_a_guest and not example.beyond), found
    assert found.runs or found.said
    if not page.WRITE:
        assert page.rows()[example.name][page.Way.WITHOUT_A_CLUSTER] == page.cell(found)
