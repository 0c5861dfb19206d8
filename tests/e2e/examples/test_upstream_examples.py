"""Every example of KubeVirt's that can run without a cluster does; every other one says why not."""

from pathlib import Path

import pytest
from tests.e2e.examples.upstream import VARIABLE, Example, Outcome, examples, outcome
from tests.e2e.standalone.driver import Machine

from guestimage import image

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not examples(), reason=f"${VARIABLE} names no folder of examples"),
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
