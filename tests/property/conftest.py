"""Time for what was found: the search for the smallest example takes longer than the one for any."""

import pytest

SEARCH_S = 600


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.timeout(SEARCH_S))
