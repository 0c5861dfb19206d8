"""When a node counts as silent."""

from datetime import timedelta

import pytest

from kubevirt.base.virtual_time import EPOCH
from kubevirt.virt.nodes import PATIENCE, is_silent, silent_from

BEAT = EPOCH.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_a_node_is_silent_five_minutes_after_its_last_heartbeat() -> None:
    assert silent_from(BEAT) == EPOCH + timedelta(minutes=5)
    assert not is_silent(BEAT, EPOCH + PATIENCE - timedelta(seconds=1))
    assert is_silent(BEAT, EPOCH + PATIENCE)


@pytest.mark.parametrize("heartbeat", [None, "", "yesterday", "2026-01-01T00:00:00"])
def test_a_node_that_never_had_a_heartbeat_is_not_silent(heartbeat: str | None) -> None:
    assert silent_from(heartbeat) is None
    assert not is_silent(heartbeat, EPOCH + timedelta(days=1))
