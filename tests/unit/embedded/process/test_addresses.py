"""Homes that are up on one machine have addresses of their own."""

from pathlib import Path

import pytest

from kubevirt.base.errors import ConfigError
from kubevirt.embedded import home as homes
from kubevirt.embedded.home import Home, Process
from kubevirt.embedded.network import ranges
from kubevirt.embedded.process import addresses


@pytest.fixture(autouse=True)
def _no_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that reaches nothing; and paths of homes may be long."""
    monkeypatch.setattr(homes, "_LONGEST", 400)
    monkeypatch.setattr(ranges, "_taken", list)


def home(place: Path, *, is_up: bool = True) -> Home:
    made = Home.make(place)
    if is_up:
        made.enter(
            Process(
                pid=1, boot_id="b", url="u", port=1, nodes=("node01",), version="1", started="s"
            )
        )
    return made


async def test_the_first_home_gets_the_usual_ranges(tmp_path: Path) -> None:
    entry = await addresses.take(home(tmp_path / "a"), "", "", tmp_path / "register")
    assert entry.ranges == ("10.244.0.0/16", "10.96.0.0/16")


async def test_a_second_home_gets_others(tmp_path: Path) -> None:
    register = tmp_path / "register"
    first = await addresses.take(home(tmp_path / "a"), "", "", register)
    second = await addresses.take(home(tmp_path / "b"), "", "", register)
    assert not set(first.ranges) & set(second.ranges)


async def test_others_keep_away_from_a_home_that_is_down(tmp_path: Path) -> None:
    register = tmp_path / "register"
    first = await addresses.take(home(tmp_path / "a", is_up=False), "", "", register)
    second = await addresses.take(home(tmp_path / "b"), "", "", register)
    assert not set(first.ranges) & set(second.ranges)


async def test_a_home_that_is_gone_takes_nothing(tmp_path: Path) -> None:
    register = tmp_path / "register"
    first, second = home(tmp_path / "a"), home(tmp_path / "b")
    usual = await addresses.take(first, "", "", register)
    first.remove()
    assert (await addresses.take(second, "", "", register)).ranges == usual.ranges
    assert [each.stem for each in register.iterdir()] == [second.id]
    addresses.forget(second, register)
    third = home(tmp_path / "c")
    assert (await addresses.take(third, "", "", register)).ranges == usual.ranges


async def test_a_home_that_is_down_keeps_nobody_from_what_they_have(tmp_path: Path) -> None:
    register = tmp_path / "register"
    first = await addresses.take(home(tmp_path / "a", is_up=False), "", "", register)
    second = await addresses.take(home(tmp_path / "b"), *first.ranges, register)
    assert second.ranges == first.ranges


async def test_a_home_keeps_what_it_had(tmp_path: Path) -> None:
    entry = await addresses.take(
        home(tmp_path / "a"), "10.1.0.0/16", "10.2.0.0/16", tmp_path / "register"
    )
    assert entry.ranges == ("10.1.0.0/16", "10.2.0.0/16")


async def test_a_home_whose_addresses_another_one_has_by_now_is_refused(tmp_path: Path) -> None:
    register = tmp_path / "register"
    first = home(tmp_path / "a")
    entry = await addresses.take(first, "", "", register)
    with pytest.raises(ConfigError, match=f"stop it with: virtctl down --home {first.path}"):
        await addresses.take(home(tmp_path / "b"), entry.pods, "10.2.0.0/16", register)


async def test_a_damaged_entry_is_none(tmp_path: Path) -> None:
    register = tmp_path / "register"
    register.mkdir()
    (register / "x.json").write_text("{")
    assert (await addresses.take(home(tmp_path / "a"), "", "", register)).pods == "10.244.0.0/16"
