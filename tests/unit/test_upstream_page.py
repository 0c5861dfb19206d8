"""The table of KubeVirt's examples is whole: each has an outcome in both ways, and the count above it is right."""

import pytest
from tests.e2e.examples import page


@pytest.mark.parametrize("way", page.Way, ids=lambda way: way.name)
def test_each_example_has_an_outcome(way: page.Way) -> None:
    told = {name: cells[way] for name, cells in page.rows().items()}
    assert told
    assert not [name for name, outcome in told.items() if outcome == "?"]


def test_the_page_is_written_as_it_is_read() -> None:
    assert page.rendered(page.rows()) in page.PAGE.read_text()
