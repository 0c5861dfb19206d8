"""A process that is started apart."""

import os
import subprocess
from pathlib import Path

import pytest

from kubevirt.embedded.process import daemon
from kubevirt.embedded.process.progress import Event, Failed
from kubevirt.embedded.process.settings import Wishes

SLOW_TO_GO = "trap 'sleep 0.3; exit 0' TERM; while :; do sleep 0.02; done"


class Deaf:
    def hear(self, event: Event) -> None:
        raise AssertionError(event)


def test_a_home_that_is_never_ready_is_gone_when_that_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started = subprocess.Popen(["sh", "-c", SLOW_TO_GO])
    # Somebody holds the other end of the pipe, and says nothing.
    held = list[int]()

    def spawn(_wishes: Wishes, report: int, _env: object) -> int:
        held.append(os.dup(report))
        return started.pid

    monkeypatch.setattr(daemon, "READY_S", 0.2)
    monkeypatch.setattr(daemon, "_spawn", spawn)
    try:
        said = daemon.start(Wishes(home=tmp_path), Deaf(), {})
        assert isinstance(said, Failed)
        assert said.reason == "Timeout"
        with pytest.raises(ProcessLookupError):
            os.kill(started.pid, 0)
    finally:
        os.close(held[0])
        started.returncode = 0  # it was waited for
