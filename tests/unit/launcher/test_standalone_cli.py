"""The stand-alone command line: help, and what is told when it is used wrongly."""

from pathlib import Path
from typing import NoReturn

import pytest

from kubevirt.components.launcher import main
from kubevirt.components.launcher.standalone import cli


def become(*_: object) -> NoReturn:
    raise AssertionError("there is no guest to be kept")


def test_help_tells_how_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main.main(["--standalone", "--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    for words in ("--standalone vm.yaml --console", "STANDALONE_VMI", "exit code is 0"):
        assert words in shown


def test_help_of_the_launcher_leads_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main.main(["--help"])
    assert "--standalone" in capsys.readouterr().out


def test_a_manifest_in_the_environment_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not main._is_standalone([])
    monkeypatch.setenv("STANDALONE_VMI", "kind: VirtualMachineInstance")
    assert main._is_standalone([])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--standalone", "{}/none.yaml"],
            "{}/none.yaml cannot be read: no such file or directory",
        ),
        (["--standalone", "{}"], "{} cannot be read: is a directory"),
        (["--standalone", "{}/image"], "{}/image is no text, and so no manifest"),
        (
            ["--no-such-flag"],
            "unrecognized arguments: --no-such-flag; see virt-launcher --standalone --help",
        ),
        (["--timings"], "there is nothing to run: name a file, or set $STANDALONE_VMI"),
        (
            ["--standalone", "{}/vm.yaml", "--volume", "data"],
            "--volume data lacks a part; write it as --volume CLAIM=PATH",
        ),
        (
            ["--standalone", "{}/vm.yaml", "--image-dir", "{}/none"],
            "--image-dir {}/none is no folder",
        ),
        (
            ["--standalone", "{}/vm.yaml"],
            "{}/vm.yaml has no VirtualMachineInstance and no VirtualMachine, only: Pod",
        ),
    ],
)
def test_wrong_use_is_told_in_one_sentence(
    words: list[str],
    sentence: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)  # nothing of this needs to be root
    monkeypatch.setenv("KUBEVIRT_STANDALONE_HOME", str(tmp_path / "home"))
    (tmp_path / "vm.yaml").write_text("kind: Pod")
    (tmp_path / "image").write_bytes(b"\xff\xfe\x00")
    assert cli.main([word.replace("{}", str(tmp_path)) for word in words], become) == cli.FAILED
    told = sentence.replace("{}", str(tmp_path))
    assert capfd.readouterr().err == f"virt-launcher: {told}\n"
    assert not (tmp_path / "home").exists()


def test_who_is_not_root_is_told_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    (tmp_path / "vm.yaml").write_text("kind: Pod")
    assert cli.main(["--standalone", str(tmp_path / "vm.yaml")], become) == cli.FAILED
    assert "needs root" in capfd.readouterr().err
