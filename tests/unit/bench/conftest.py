"""What the tests of the benchmark share."""

from pathlib import Path

import pytest
from bench.server import Server


@pytest.fixture
def a_server() -> Server:
    return Server(
        kubeconfig=Path("/nowhere/kubeconfig"),
        folder=Path("/nowhere"),
        objects=100,
        object_bytes=4_100.0,
    )
