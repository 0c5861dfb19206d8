"""What the embedded home does not do, and what a user reads of it instead."""

from collections.abc import Mapping

import pytest

NOT_HERE: Mapping[str, str] = {
    "test_one_speaks_to_the_containers_own_program": (
        "containers of the embedded home have no standard input; exec -i is the way in"
    ),
}
"""By the name of a test."""


def reason(item: pytest.Item) -> str | None:
    return NOT_HERE.get(item.name)
