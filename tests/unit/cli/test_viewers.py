"""Which VNC viewer is found, and how it is called."""

from pathlib import Path

import pytest

from kubevirt.base.errors import ConfigError
from kubevirt.cli import viewers


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put(folder: Path, name: str) -> str:
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return str(program)


def test_remote_viewer_comes_before_vncviewer(programs: Path) -> None:
    second = put(programs, "vncviewer")
    found = viewers.find(system="linux")
    assert (found.program, found.arguments("127.0.0.1", 5901)) == (second, ("127.0.0.1::5901",))
    first = put(programs, "remote-viewer")
    found = viewers.find(system="linux")
    assert (found.program, found.arguments("::1", 5901)) == (first, ("vnc://[::1]:5901",))


def test_a_person_may_choose(programs: Path) -> None:
    put(programs, "remote-viewer")
    real = put(programs, "vncviewer")
    found = viewers.find("real", system="linux")
    assert found.program == real
    assert found.arguments("127.0.0.1", 5901)[0] == "127.0.0.1:5901"
    own = put(programs, "mine")
    assert viewers.find("remote-viewer", own).arguments("127.0.0.1", 1) == ("vnc://127.0.0.1:1",)


@pytest.mark.parametrize(
    ("kind", "path", "system"),
    [("", "", "linux"), ("tiger", "", "linux"), ("", "/nowhere", "linux"), ("", "", "darwin")],
)
def test_a_missing_viewer_is_said(programs: Path, kind: str, path: str, system: str) -> None:
    with pytest.raises(ConfigError) as missing:
        viewers.find(kind, path, system=system)
    assert missing.value.reason == "ProgramNotFound"
