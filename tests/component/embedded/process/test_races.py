"""Commands that come while another one is at work, twice, or are interrupted: one wins, the others say so."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.component.embedded.process.conftest import LIMIT_S, Done, Virtctl
from tests.component.embedded.process.leftovers import left_of
from tests.component.embedded.process.pods import api, pod, ready

from kubevirt.api.scheme import PODS

pytestmark = pytest.mark.timeout(240)

DEAF = 'trap "" TERM; while :; do sleep 1; done'

SLOW_S = 12
"""Commands of two more have to come while it goes down, on a busy machine, too."""


@contextmanager
def begun(virtctl: Virtctl, *words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "kubevirt.cli", *words],
        env=virtctl.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def outcome(process: subprocess.Popen[str]) -> Done:
    out, err = process.communicate(timeout=LIMIT_S)
    assert "Traceback" not in err
    return Done(process.returncode, out, err)


def until_locked(virtctl: Virtctl) -> None:
    """The process of the home has begun, and is not ready yet."""
    until = time.monotonic() + LIMIT_S
    while not (virtctl.home.is_there and virtctl.home.holder):
        assert time.monotonic() < until
        time.sleep(0.002)


def is_up(virtctl: Virtctl) -> bool:
    return virtctl("status").code == 0


def test_of_two_that_bring_a_home_up_at_once_one_wins_and_the_other_says_so(
    virtctl: Virtctl,
) -> None:
    words = ("up", "--port", "0")
    with begun(virtctl, *words) as one, begun(virtctl, *words) as other:
        done = [outcome(one), outcome(other)]
    assert is_up(virtctl), done
    codes = sorted(each.code for each in done)
    assert codes in ([0, 0], [0, 5]), done
    assert any("in use by" in each.err or "up already" in each.err for each in done), done


def test_down_ends_a_start_that_is_under_way(virtctl: Virtctl) -> None:
    virtctl.up()
    virtctl("down")
    home_id = virtctl.home.id
    with begun(virtctl, "up") as starting:
        until_locked(virtctl)
        done = virtctl("down")
        assert done.code == 0, done.err
        outcome(starting)
    assert not virtctl.home.is_running
    assert virtctl.home.process is None
    assert left_of(virtctl.home.path, home_id) == []


async def test_up_while_down_stops_pods_says_that_it_is_going_down(virtctl: Virtctl) -> None:
    virtctl.up()
    async with api(virtctl) as client:
        slow = pod("slow", DEAF, terminationGracePeriodSeconds=SLOW_S)
        await client.create(PODS.raw, slow, "default")
        await ready(client, "slow")
    home_id, began = virtctl.home.id, time.monotonic()
    with begun(virtctl, "down") as stopping:
        async with asyncio.timeout(LIMIT_S):
            while "stopping" not in virtctl.home.log.read_text():  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert "stopping" in virtctl("status").out
        refused = virtctl("up")
        assert refused.code == 5, refused
        assert "is going down" in refused.err
        again = virtctl("down")
        assert again.code == 0, again.err
        assert outcome(stopping).code == 0
    assert time.monotonic() - began >= SLOW_S, "the second one cut it short"
    assert left_of(virtctl.home.path, home_id) == []
    assert virtctl("up").code == 0


async def test_a_pod_that_does_not_listen_is_given_its_time_and_no_more(virtctl: Virtctl) -> None:
    virtctl.up()
    async with api(virtctl) as client:
        for number in range(3):
            deaf = pod(f"deaf{number}", DEAF, terminationGracePeriodSeconds=2)
            await client.create(PODS.raw, deaf, "default")
        for number in range(3):
            await ready(client, f"deaf{number}")
    home_id, began = virtctl.home.id, time.monotonic()
    done = virtctl("down")
    assert done.code == 0, done.err
    assert time.monotonic() - began >= 2
    assert left_of(virtctl.home.path, home_id) == []


def test_interrupting_a_start_ends_what_was_started(virtctl: Virtctl) -> None:
    virtctl.up()
    virtctl("down")
    home_id = virtctl.home.id
    for pause_s in (0.0, 0.2, 0.6):
        with begun(virtctl, "up", "--no-merge-kubeconfig") as starting:
            until_locked(virtctl)
            time.sleep(pause_s)
            starting.send_signal(signal.SIGINT)
            done = outcome(starting)
        if "up in" in done.err:  # it was ready before, and perhaps gone but for its last breath
            assert virtctl("down").code == 0
            continue
        assert done.code == 130, done
        assert "interrupted" in done.err
        assert not virtctl.home.is_running
        assert virtctl.home.process is None
        assert left_of(virtctl.home.path, home_id) == []
