"""Contenders as processes: what they say, and that none is left behind."""

import os
import sys
from pathlib import Path

import pytest
from bench.process import Memory, started

from clusterup import errors

TALKS = """
import json, os, sys
print(json.dumps({"event": "ready", "pid": os.getpid()}), flush=True)
sys.stdin.readline()
print(json.dumps({"event": "synced", "objects": 3}), flush=True)
sys.stdin.readline()
"""


async def test_a_contender_goes_on_when_it_is_told_to(tmp_path: Path) -> None:
    async with started("one", [sys.executable, "-c", TALKS], tmp_path) as process:
        await process.expect("ready")
        process.proceed()
        assert (await process.expect("synced"))["objects"] == 3


async def test_a_contender_is_gone_when_the_driver_leaves_it(tmp_path: Path) -> None:
    async with started("one", [sys.executable, "-c", TALKS], tmp_path) as process:
        pid = (await process.expect("ready"))["pid"]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_the_last_words_of_a_contender_that_fails_are_shown(tmp_path: Path) -> None:
    with pytest.raises(errors.Broken, match="no such server"):
        async with started("one", [sys.executable, "-c", "exit('no such server')"], tmp_path) as it:
            await it.expect("ready")


def test_memory_is_what_the_kernel_says() -> None:
    memory = Memory.of(os.getpid())
    assert 0 < memory.anonymous <= memory.rss <= memory.peak_rss
    assert memory.pss <= memory.rss
