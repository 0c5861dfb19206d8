"""What a start is made of."""

import socket
from pathlib import Path
from typing import Any

import pytest

from kubevirt.base.errors import ConfigError
from kubevirt.embedded.home import Choices, Process
from kubevirt.embedded.process import settings
from kubevirt.embedded.process.settings import Settings, Wishes, choose


@pytest.fixture(autouse=True)
def keeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "keeper"
    place.touch()
    monkeypatch.setattr(settings, "_keepers", lambda: (tmp_path / "nowhere", place))
    return place


def chosen(
    remembered: Choices | None = None,
    *,
    port: int | None = None,
    nodes: int | None = None,
    separate: bool | None = None,
) -> Settings:
    wishes = Wishes(home=Path("/home"), port=port, nodes=nodes, is_separate=separate)
    return choose(wishes, remembered or Choices())


def test_nothing_said_gives_one_node_on_the_usual_port() -> None:
    found = chosen()
    assert (found.url, found.nodes) == ("https://127.0.0.1:6443", ("node01",))


def test_what_was_chosen_once_stays() -> None:
    first = chosen(port=7000, nodes=2, separate=True)
    assert chosen(first.choices) == first
    assert first.is_separate


def test_what_is_said_now_counts_more() -> None:
    assert chosen(Choices(port=7000, nodes=2), port=7001, nodes=1).choices.port == 7001
    assert not chosen(Choices(is_separate=True), separate=False).is_separate


def test_any_port_is_one_that_is_free() -> None:
    port = chosen(Choices(port=7000), port=0).port
    assert port not in (0, 7000)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", port))


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_is_a_number_of_two_bytes(port: int) -> None:
    with pytest.raises(ConfigError, match=f"{port} is no port"):
        chosen(port=port)


@pytest.mark.parametrize("nodes", [-1, 0, 9])
def test_a_machine_has_a_few_nodes(nodes: int) -> None:
    with pytest.raises(ConfigError, match="no number of nodes"):
        chosen(nodes=nodes)


RUNNING = Process(
    pid=1,
    boot_id="",
    url="https://127.0.0.1:7000",
    port=7000,
    nodes=("node01",),
    version="",
    started="",
)


@pytest.mark.parametrize(
    ("wishes", "wanted"),
    [
        ({}, []),
        ({"port": 7000, "nodes": 1, "is_separate": False}, []),
        ({"port": 0}, []),
        ({"port": 7001, "nodes": 2}, ["--port 7001", "--nodes 2"]),
        ({"is_separate": True}, ["--separate"]),
        ({"has_kubevirt": False}, ["--without-kubevirt"]),
    ],
)
def test_what_a_home_that_is_up_does_not_fulfil_is_named(
    wishes: dict[str, Any], wanted: list[str]
) -> None:
    found = settings.unmet(Wishes(home=Path("/home"), **wishes), RUNNING, Choices())
    assert list(found) == wanted


def test_a_keeper_that_is_not_built_is_said_to_be_so(keeper: Path) -> None:
    keeper.unlink()
    with pytest.raises(ConfigError, match=r"not built.*make bootstrap"):
        chosen()
