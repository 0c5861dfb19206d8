"""One watch of the kernel's for all folders."""

import asyncio
from pathlib import Path

import pytest

from kubevirt.base import inotify
from kubevirt.base.files import Root
from kubevirt.components.handler.arrivals import Arrivals


async def test_a_name_that_appears_wakes_whoever_waits(tmp_path: Path) -> None:
    arrivals = Arrivals()
    with arrivals.running(), Root.open(tmp_path) as folder:
        with arrivals.at(folder) as first, arrivals.at(folder) as second:
            (tmp_path / "one").touch()
            async with asyncio.timeout(30):
                await asyncio.gather(first.wait(), second.wait())
        with arrivals.at(folder) as third:
            (tmp_path / "two").touch()
            async with asyncio.timeout(30):
                await third.wait()


async def test_who_leaves_takes_nothing_from_who_stays(tmp_path: Path) -> None:
    arrivals = Arrivals()
    with arrivals.running(), Root.open(tmp_path) as folder, arrivals.at(folder) as stays:
        with arrivals.at(folder):
            pass
        (tmp_path / "one").touch()
        async with asyncio.timeout(30):
            await stays.wait()


async def test_who_stops_waiting_wakes_nobody_who_waits_elsewhere(tmp_path: Path) -> None:
    """Virt-handler woke itself for ever: each who left woke all others, who looked, left, and woke them again."""
    arrivals = Arrivals()
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    with (
        arrivals.running(),
        Root.open(tmp_path / "here") as here,
        Root.open(tmp_path / "there") as there,
        arrivals.at(here) as stays,
    ):
        with arrivals.at(there):
            pass
        with arrivals.at(there) as last:  # told after what went before it
            (tmp_path / "there" / "one").touch()
            async with asyncio.timeout(30):
                await last.wait()
        assert not stays.is_set()


async def test_news_that_the_kernel_could_not_keep_may_be_anybodys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrivals = Arrivals()
    with arrivals.running(), Root.open(tmp_path) as folder, arrivals.at(folder) as arrived:
        monkeypatch.setattr(inotify, "heard", lambda _: frozenset({inotify.OVERFLOWED}))
        (tmp_path / "one").touch()
        async with asyncio.timeout(30):
            await arrived.wait()
        monkeypatch.undo()


async def test_without_a_watch_of_the_kernels_nobody_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left() -> int:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(inotify, "instance", none_left)
    arrivals = Arrivals()
    with arrivals.running(), Root.open(tmp_path) as folder, arrivals.at(folder) as arrived:
        assert not arrived.is_set()
