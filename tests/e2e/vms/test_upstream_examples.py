"""Every example of KubeVirt's runs in the home, or is refused or kept waiting with a sentence that says why."""

from collections.abc import Iterator

import pytest
from tests import upstream
from tests.e2e.examples import page
from tests.e2e.examples.upstream import Example, examples
from tests.e2e.vms.place import Place
from tests.e2e.vms.upstream import REFUSED, RUNS, WAITS, Outcome, expected, outcome

pytestmark = [
    # One worker runs them all: their outcomes are one table, and some stand on others.
    pytest.mark.xdist_group("upstream"),
    upstream.needed,
]
PRIORITY = "non-preemtible"


@pytest.fixture(scope="module")
def outcomes(pytestconfig: pytest.Config) -> Iterator[dict[str, Outcome]]:
    """Filled by the tests; shown when all have run."""
    found: dict[str, Outcome] = {}
    yield found
    if page.WRITE:
        page.write(page.Way.IN_A_HOME, found)
    lines = [f"| {name} | {found[name]} |" for name in sorted(found)]
    running = sum(each.ending == RUNS for each in found.values())
    told = "\n".join([*lines, f"{len(found)} examples, {running} run"])
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    assert capture
    with capture.global_and_fixture_disabled():
        print(f"\n{told}")  # noqa: T201  # the table is what one runs this for


@pytest.fixture
def applied_before(place: Place, example: Example) -> Iterator[None]:
    """The class that an example of a machine names. It belongs to no namespace, so it is taken back here."""
    by_hand = ("create", "priorityclass", PRIORITY, "--value=999999999")
    if example.name == "vm-priorityclass":
        assert place.kubectl(*by_hand).code == 0
    yield
    place.kubectl("delete", "priorityclass", PRIORITY, "preemtible", "--ignore-not-found")


@pytest.mark.usefixtures("applied_before")
@pytest.mark.parametrize("example", examples(), ids=lambda each: each.name)
async def test_an_example_runs_or_somebody_says_why_not(
    example: Example, place: Place, outcomes: dict[str, Outcome]
) -> None:
    found = outcomes[example.name] = await outcome(place, example)
    assert found.ending in expected(example), found
    assert found.words or found.ending not in {REFUSED, WAITS}
    if not page.WRITE and len(expected(example)) == 1:  # else it is a matter of the machine
        assert page.rows()[example.name][page.Way.IN_A_HOME] == page.cell(found)
