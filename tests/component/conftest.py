"""What all these tests share: a limit that ends a hang, and is no measure."""

from pathlib import Path
from typing import Final

import pytest

LIMIT_S: Final = 240
"""A test that takes a second may take a minute on a machine that does other things; waits inside end before this."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("timeout") is not None:
        return  # who names one, as `make soak` does for its long forms, means it: a mark would have the last word
    for item in items:
        if Path(__file__).parent in item.path.parents and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LIMIT_S))
