"""Credentials from another program. The programs here are real ones, written in shell."""

import asyncio
import base64
import json
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kubevirt.base.clock import Clock, SystemClock
from kubevirt.base.errors import ConfigError
from kubevirt.kube.access import exec_plugin, kubeconfig
from kubevirt.kube.access.credentials import Credentials, HeldCredentials, Identity
from kubevirt.kube.access.exec_plugin import ExecCredentials, ExecPlugin
from kubevirt.kube.access.material import Inline

V1 = "client.authentication.k8s.io/v1"
SECRET = "s3cr3t-t0k3n"
TOKEN = {"token": SECRET}

Program = Callable[..., Path]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Makes an executable of a shell script, which also counts its runs."""

    def program(script: str, name: str = "login") -> Path:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\necho run >> {tmp_path}/runs\n{script}\n")
        path.chmod(0o700)
        return path

    return program


@pytest.fixture
def runs(tmp_path: Path) -> Callable[[], int]:
    return lambda: (tmp_path / "runs").read_text().count("run")


def prints(status: Any, **changes: Any) -> str:
    credential = {"apiVersion": V1, "kind": "ExecCredential", "status": status, **changes}
    return f"cat <<'END'\n{json.dumps(credential)}\nEND"


def credentials_by(
    command: Path | str, *, terminal: bool = False, held: HeldCredentials | None = None, **more: Any
) -> ExecCredentials:
    settings: dict[str, Any] = {
        "env": {"PATH": os.environ["PATH"]},
        "api_version": V1,
        "where": 'exec plugin login of user "ann"',
        **more,
    }
    plugin = ExecPlugin(command=str(command), **settings)
    return ExecCredentials(plugin, held=held, has_terminal=lambda: terminal)


async def refusal(credentials: Credentials) -> str:
    with pytest.raises(ConfigError) as caught:
        await credentials.identity(SystemClock())
    assert SECRET not in str(caught.value)
    assert 'exec plugin login of user "ann"' in str(caught.value)
    return str(caught.value)


class MovedClock(SystemClock):
    ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead


async def test_a_token_is_fetched_once_and_kept(
    program: Program, runs: Callable[[], int], clock: Clock
) -> None:
    credentials = credentials_by(program(prints(TOKEN)))
    for _ in range(3):
        assert await credentials.identity(clock) == Identity(f"Bearer {SECRET}")
    assert runs() == 1


async def test_all_who_wait_share_one_run(
    program: Program, runs: Callable[[], int], clock: Clock
) -> None:
    credentials = credentials_by(program(prints(TOKEN)))
    await asyncio.gather(*(credentials.identity(clock) for _ in range(10)))
    assert runs() == 1


async def test_a_client_certificate_is_fetched(program: Program, clock: Clock) -> None:
    status = {"clientCertificateData": "CERT", "clientKeyData": "KEY"}
    pair = (await credentials_by(program(prints(status))).identity(clock)).key_pair
    assert pair is not None
    assert (pair.certificate, pair.key) == (b"CERT", b"KEY")
    assert "KEY" not in repr(pair)


async def test_a_certificate_of_the_kubeconfig_goes_with_a_fetched_token(
    program: Program, clock: Clock
) -> None:
    held = HeldCredentials(certificate=Inline(b"CERT", "c"), key=Inline(b"KEY", "k"))
    identity = await credentials_by(program(prints(TOKEN)), held=held).identity(clock)
    assert identity.authorization == f"Bearer {SECRET}"
    assert identity.key_pair is not None
    assert identity.key_pair.certificate == b"CERT"


async def test_what_has_expired_is_fetched_again(program: Program, runs: Callable[[], int]) -> None:
    clock = MovedClock()
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    credentials = credentials_by(program(prints({**TOKEN, "expirationTimestamp": soon})))
    await credentials.identity(clock)
    clock.ahead = timedelta(minutes=59)
    await credentials.identity(clock)
    assert runs() == 1
    clock.ahead = timedelta(minutes=61)
    await credentials.identity(clock)
    assert runs() == 2


async def test_what_the_server_refuses_is_fetched_again_once_for_all(
    program: Program, tmp_path: Path, runs: Callable[[], int], clock: Clock
) -> None:
    command = program(prints({"token": "old"}))
    credentials = credentials_by(command)
    refused = await credentials.identity(clock)
    program(prints({"token": "new"}))
    answers = await asyncio.gather(*(credentials.renew(refused, clock) for _ in range(5)))
    assert answers == [True] * 5
    assert await credentials.identity(clock) == Identity("Bearer new")
    assert runs() == 2


async def test_a_plugin_that_gives_the_same_again_is_not_worth_another_try(
    program: Program, clock: Clock
) -> None:
    credentials = credentials_by(program(prints(TOKEN)))
    refused = await credentials.identity(clock)
    assert not await credentials.renew(refused, clock)


async def test_a_plugin_learns_its_version_and_whether_it_may_ask(
    program: Program, tmp_path: Path, clock: Clock
) -> None:
    tell = f'printf %s "$KUBERNETES_EXEC_INFO" > {tmp_path}/info\n' + prints(TOKEN)
    for terminal, mode, expected in [
        (True, "IfAvailable", True),
        (True, "Never", False),
        (False, "IfAvailable", False),
        (True, "Always", True),
    ]:
        credentials = credentials_by(program(tell), terminal=terminal, interactive_mode=mode)
        await credentials.identity(clock)
        assert json.loads((tmp_path / "info").read_text()) == {
            "kind": "ExecCredential",
            "apiVersion": V1,
            "spec": {"interactive": expected},
        }


async def test_a_plugin_learns_of_the_cluster_when_the_kubeconfig_says_so(
    program: Program, tmp_path: Path, clock: Clock
) -> None:
    program(f'printf %s "$KUBERNETES_EXEC_INFO" > {tmp_path}/info\n' + prints(TOKEN))
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    plugin = {
        "command": "./login",
        "apiVersion": V1,
        "provideClusterInfo": True,
        "interactiveMode": "Never",
        "env": [{"name": "FLAVOUR", "value": "plum"}],
    }
    content = {
        "current-context": "lab",
        "contexts": [{"name": "lab", "context": {"cluster": "c", "user": "ann"}}],
        "users": [{"name": "ann", "user": {"exec": plugin}}],
        "clusters": [
            {
                "name": "c",
                "cluster": {
                    "server": "https://lab",
                    "tls-server-name": "kubernetes",
                    "certificate-authority-data": base64.b64encode(b"PEM").decode(),
                    "extensions": [extension],
                },
            }
        ],
    }
    (tmp_path / "config").write_text(json.dumps(content))
    config = kubeconfig.load([tmp_path / "config"], os.environ)
    await config.credentials.identity(clock)
    assert json.loads((tmp_path / "info").read_text())["spec"]["cluster"] == {
        "server": "https://lab",
        "tls-server-name": "kubernetes",
        "certificate-authority-data": base64.b64encode(b"PEM").decode(),
        "config": {"audience": "x"},
    }


async def test_a_plugin_gets_its_arguments_and_environment(
    program: Program, tmp_path: Path, clock: Clock
) -> None:
    command = program(f'echo "$FLAVOUR $1" > {tmp_path}/heard\n' + prints(TOKEN))
    env = {"PATH": os.environ["PATH"], "FLAVOUR": "plum"}
    await credentials_by(command, env=env, args=("tart",)).identity(clock)
    assert (tmp_path / "heard").read_text() == "plum tart\n"


async def test_a_plugin_without_a_path_is_looked_for_on_the_path(
    program: Program, clock: Clock
) -> None:
    folder = program(prints(TOKEN), name="our-login").parent
    env = {"PATH": f"{os.environ['PATH']}:{folder}"}
    await credentials_by("our-login", env=env, folder=Path("/nowhere")).identity(clock)


def test_what_a_plugin_is_told_has_only_what_is_set() -> None:
    settings: dict[str, Any] = {"tls_server_name": "", "settings": None, "ca": None}
    bare = exec_plugin.cluster_info(
        server="https://lab", insecure_skip_tls_verify=False, proxy_url="", **settings
    )
    assert bare == {"server": "https://lab", "config": None}
    full = exec_plugin.cluster_info(
        server="https://lab", insecure_skip_tls_verify=True, proxy_url="http://p", **settings
    )
    assert full["insecure-skip-tls-verify"] is True
    assert full["proxy-url"] == "http://p"


# What goes wrong is named, and never shown.


async def test_a_missing_plugin_is_named_with_the_hint_to_install_it() -> None:
    text = await refusal(credentials_by("nowhere", install_hint="apt install nowhere\n"))
    assert "there is no program nowhere" in text
    assert text.endswith(": apt install nowhere")


async def test_a_plugin_that_cannot_be_executed_is_named(program: Program) -> None:
    command = program("")
    command.write_bytes(b"\x7fELF garbage")
    assert "cannot be run: Exec format error" in await refusal(credentials_by(command))


async def test_a_plugin_that_fails_is_named_with_its_exit_code(program: Program) -> None:
    text = await refusal(credentials_by(program(f"echo {SECRET}; exit 3")))
    assert "ended with exit code 3" in text


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("", "printed no ExecCredential: Input data was truncated"),
        (f"echo {SECRET}", "printed no ExecCredential: JSON is malformed"),
        ("printf '\\377'", "printed no ExecCredential"),
        (prints(TOKEN, kind="Secret"), "printed another object"),
        (prints(TOKEN, apiVersion="client.authentication.k8s.io/v1beta1"), "another object"),
        (prints(None), "gave neither a token nor a client certificate"),
        (prints({}), "gave neither a token nor a client certificate"),
        (prints({"token": 7}), "Expected `str`, got `int` - at `$.status.token`"),
        (prints({"token": f"a {SECRET}"}), "holds no bearer token"),
        (prints({**TOKEN, "clientKeyData": SECRET}), "without its certificate"),
        (prints({"clientCertificateData": SECRET}), "without its key"),
        (prints({**TOKEN, "expirationTimestamp": "2030-01-01T00:00:00"}), "timezone"),
        ("head -c 2000000 /dev/zero", "prints more than a credential"),
    ],
)
async def test_a_plugin_that_prints_something_else_is_named(
    program: Program, script: str, message: str
) -> None:
    assert message in await refusal(credentials_by(program(script)))


async def test_a_plugin_that_must_ask_is_not_run_without_a_terminal(
    program: Program, tmp_path: Path
) -> None:
    credentials = credentials_by(program(prints(TOKEN)), interactive_mode="Always")
    assert "standard input is no terminal" in await refusal(credentials)
    assert not (tmp_path / "runs").exists()


async def test_a_plugin_that_never_ends_is_ended(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exec_plugin, "UNATTENDED_LIMIT_S", 2.0)
    command = program(f"echo $$ > {tmp_path}/pid; exec sleep 1000")
    assert "did not finish within 2 s" in await refusal(credentials_by(command))
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_plugin_that_leaves_a_child_behind_does_not_hold_us_up(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exec_plugin, "UNATTENDED_LIMIT_S", 2.0)
    command = program(f"sleep 1000 & echo $! > {tmp_path}/pid; wait")
    assert "did not finish" in await refusal(credentials_by(command))
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
