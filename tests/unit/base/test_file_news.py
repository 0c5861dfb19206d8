"""A file that appears is heard of, also when the user has no instance of inotify left."""

import asyncio
import errno
import os
from pathlib import Path

import pytest

from kubevirt.base import file_news, inotify
from kubevirt.base.file_news import news_of

LIMIT_S = 30


async def heard(folder: Path) -> None:
    with news_of(folder, inotify.APPEARS) as news:
        (folder / "file").touch()
        async with asyncio.timeout(LIMIT_S):
            await news.wait()


async def test_the_kernel_tells_of_a_file_that_appears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_news, "_glances", lambda: pytest.fail("nobody has to look"))
    await heard(tmp_path)


async def test_a_user_whose_instances_are_all_taken_hears_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine with many guests virt-launcher ended with: Too many open files."""

    def none_left() -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), "inotify")

    monkeypatch.setattr(inotify, "instance", none_left)
    await heard(tmp_path)


async def test_a_folder_that_is_not_there_is_no_reason_to_look(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), news_of(tmp_path / "none", inotify.APPEARS):
        pytest.fail("there is nothing to hear of")
