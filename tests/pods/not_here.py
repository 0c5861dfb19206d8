"""What the embedded home does not do, and what a user reads of it instead."""

from collections.abc import Mapping

import pytest

NOT_HERE: Mapping[str, str] = {
    "test_containers_may_share_their_processes": (
        "the embedded home does not share processes between containers; the pod fails and says so"
    ),
}
"""By the name of a test."""


def reason(item: pytest.Item) -> str | None:
    return NOT_HERE.get(item.name)
