"""virtctl as a command line: quick, lazy, and with one sentence for who mistypes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kubevirt
from kubevirt.base.errors import ConfigError, Retry
from kubevirt.cli import exit_codes, main, version

HEAVY = ("aiohttp", "asyncio", "cryptography", "msgspec", "yaml", "grpc", "sqlite3")


def virtctl(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main.main(list(words))
    code = ended.value.code
    assert isinstance(code, int)
    return code, *capsys.readouterr()


def test_the_version_of_the_client_needs_no_server(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = virtctl(capsys, "version", "--client")
    assert (code, out, err) == (0, f"Client Version: {kubevirt.__version__}\n", "")


@pytest.mark.parametrize(
    "words",
    [
        ("version", "--client"),
        ("--help",),
        ("up", "--port", "x"),
        ("start", "--help"),
        ("stop", "testvm", "--force"),
        ("console",),
        ("vnc", "screenshot", "--help"),
        ("ssh", "--help"),
        ("create", "vm", "--help"),
        ("adm", "log-verbosity", "--help"),
        ("options",),
    ],
)
def test_what_needs_no_server_loads_nothing_of_one(words: tuple[str, ...]) -> None:
    """A command that is loaded late is loaded by its name: the others are not in memory."""
    program = (
        "import sys; from kubevirt.cli import main\n"
        f"try: main.main({list(words)!r})\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    if words[0] == "up":
        pytest.importorskip("msgspec")  # its events are structs
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30
    )
    loaded = set(done.stderr.split())
    allowed = {"msgspec"} if words[0] == "up" else set()
    assert not loaded & (set(HEAVY) - allowed)


def test_help_comes_within_a_tenth_of_a_second_of_processor_time() -> None:
    best = min(_cpu_s("--help") for _ in range(5))
    assert best < 0.1


def _cpu_s(*words: str) -> float:
    before = os.times()
    subprocess.run(
        [sys.executable, "-m", "kubevirt.cli", *words], capture_output=True, check=True, timeout=30
    )
    after = os.times()
    return after.children_user + after.children_system - before[2] - before[3]


def test_every_command_of_the_table_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    for name, line in main.COMMANDS.items():
        code, out, _ = virtctl(capsys, name, "--help")
        assert code == 0
        assert f"virtctl {name}" in out
        assert line in virtctl(capsys, "--help")[1]


def test_a_mistyped_command_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = virtctl(capsys, "dwon")
    assert (code, out) == (exit_codes.USAGE, "")
    assert err == "virtctl: there is no command dwon; did you mean down? (see virtctl --help)\n"


def test_a_command_like_no_other_is_sent_to_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no command xylophone (see virtctl --help)" in virtctl(capsys, "xylophone")[2]


def test_a_wrong_option_names_the_command_whose_help_helps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, _, err = virtctl(capsys, "up", "--prot", "1")
    assert code == exit_codes.USAGE
    assert "--port" in err
    assert "see virtctl up --help" in err
    assert err.count("\n") == 1


def test_no_command_shows_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = virtctl(capsys)
    assert code == exit_codes.USAGE
    assert "Commands:" in out


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("no such thing", reason="NotFound"), exit_codes.NOT_FOUND),
        (ConfigError("in use", reason="HomeInUse"), exit_codes.CONFLICT),
        (ConfigError("sudo", reason="NotRoot"), exit_codes.NO_ACCESS),
        (ConfigError("nft", reason="ProgramNotFound"), exit_codes.NOT_ABLE),
        (Retry("not now"), exit_codes.FAILED),
        (OSError("disk"), exit_codes.FAILED),
    ],
)
def test_an_error_is_a_sentence_and_an_exit_code(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    code: int,
) -> None:
    def fail(*_: object) -> str:
        raise error

    monkeypatch.setattr(version, "_of_server", fail)
    assert virtctl(capsys, "version") == (code, "", f"virtctl: {error}\n")


def test_a_missing_kubeconfig_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    code, out, err = virtctl(capsys, "version")
    assert (code, out) == (exit_codes.FAILED, "")
    assert "no Kubernetes configuration" in err
