"""Credentials that another program fetches: the exec plugins of kubectl.

A cloud's login tool prints an `ExecCredential` with a token, a client certificate, or both. It is run
when the first request needs it, once for all that wait, and again when what it gave has expired or
the server refuses it. Its standard error goes to the user's own: it may ask for a code or a browser.
What it prints on standard output is a secret and appears in no message.
"""

import asyncio
import base64
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec

from kubevirt.base import commands
from kubevirt.base.clock import Clock
from kubevirt.base.errors import CommandFailed, ConfigError, OutputTooLarge
from kubevirt.kube.access.credentials import HeldCredentials, Identity, KeyPair, bearer

GROUP = "client.authentication.k8s.io"
VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
OUTPUT_LIMIT = 1 << 20
UNATTENDED_LIMIT_S = 60.0
ATTENDED_LIMIT_S = 600.0
"""A person who is asked for a second factor needs longer than a program that asks a server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecPlugin:
    """What to run, as the kubeconfig says."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(repr=False)
    """The whole environment of the plugin, with what the kubeconfig adds."""

    api_version: str
    interactive_mode: str = "IfAvailable"
    install_hint: str = ""
    folder: Path | None = None
    """Where a relative path to the command starts: the folder of the kubeconfig."""

    cluster: Callable[[], Mapping[str, Any]] | None = None
    """What the plugin is told of the cluster, if it asked for it (`provideClusterInfo`)."""

    where: str
    """For messages: `exec plugin aws of user "ann" in /home/ann/.kube/config`."""


class _Status(msgspec.Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _ExecCredential(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    status: _Status | None = None


class ExecCredentials:
    """Runs the plugin when needed and keeps what it gave until that expires."""

    def __init__(
        self,
        plugin: ExecPlugin,
        *,
        held: HeldCredentials | None = None,
        has_terminal: Callable[[], bool] = lambda: bool(sys.stdin and sys.stdin.isatty()),
    ) -> None:
        self._plugin = plugin
        self._held = held or HeldCredentials()
        self._has_terminal = has_terminal
        self._one_at_a_time = asyncio.Lock()
        self._given: Identity | None = None
        self._expires: datetime | None = None

    def __repr__(self) -> str:
        return f"ExecCredentials({self._plugin.where})"

    async def identity(self, clock: Clock) -> Identity:
        async with self._one_at_a_time:
            if self._given is None or (self._expires and clock.now() >= self._expires):
                self._given, self._expires = await self._fetch()
            return self._given

    async def renew(self, refused: Identity, clock: Clock) -> bool:
        if self._given == refused:
            self._given = None
        return await self.identity(clock) != refused

    async def _fetch(self) -> tuple[Identity, datetime | None]:
        interactive = _may_ask(self._plugin, has_terminal=self._has_terminal())
        output = await run(self._plugin, interactive=interactive)
        status = _parse(output, self._plugin)
        return _identity(status, self._held, self._plugin), status.expiration_timestamp


def _may_ask(plugin: ExecPlugin, *, has_terminal: bool) -> bool:
    if plugin.interactive_mode == "Always" and not has_terminal:
        raise ConfigError(
            f"the {plugin.where} asks questions (interactiveMode Always), but standard input is no"
            " terminal; run this command in a terminal, or use credentials that need no questions"
        )
    return has_terminal and plugin.interactive_mode != "Never"


async def run(plugin: ExecPlugin, *, interactive: bool) -> bytes:
    """What the plugin prints. It is ended, and waited for, when it takes too long."""
    limit_s = ATTENDED_LIMIT_S if interactive else UNATTENDED_LIMIT_S
    try:
        done = await commands.run(
            _program(plugin),
            *plugin.args,
            stdin=None if interactive else b"",
            timeout_s=limit_s,
            output_limit=OUTPUT_LIMIT,
            env={**plugin.env, "KUBERNETES_EXEC_INFO": _exec_info(plugin, interactive=interactive)},
            attended=True,
        )
    except OutputTooLarge:
        raise ConfigError(f"the {plugin.where} prints more than a credential; {_TEST_IT}") from None
    except CommandFailed as error:
        # Its words went to the user's own standard error; its arguments are nobody's business.
        raise ConfigError(f"the {plugin.where} {error.how}; {_TEST_IT}") from None
    return done.stdout


_TEST_IT = "run it by hand to see why, or log in anew with it"


def _program(plugin: ExecPlugin) -> str:
    command = plugin.command
    if plugin.folder is not None and "/" in command:
        command = str(plugin.folder / command)
    found = shutil.which(command, path=plugin.env.get("PATH"))
    if found is None:
        hint = f": {plugin.install_hint.strip()}" if plugin.install_hint else ""
        raise ConfigError(
            f"the {plugin.where} cannot be run: there is no program {command};"
            f" install it or correct the kubeconfig{hint}"
        )
    return found


def _exec_info(plugin: ExecPlugin, *, interactive: bool) -> str:
    spec: dict[str, Any] = {"interactive": interactive}
    if plugin.cluster is not None:
        spec["cluster"] = plugin.cluster()
    info = {"kind": "ExecCredential", "apiVersion": plugin.api_version, "spec": spec}
    return msgspec.json.encode(info).decode()


def _parse(output: bytes, plugin: ExecPlugin) -> _Status:
    try:
        credential = msgspec.json.decode(output, type=_ExecCredential)
    except ValueError as error:
        # The parser names a place and a type, never the text it found there.
        raise ConfigError(
            f"the {plugin.where} printed no ExecCredential: {error}; {_TEST_IT}"
        ) from None
    if credential.kind != "ExecCredential" or credential.api_version != plugin.api_version:
        raise ConfigError(
            f"the {plugin.where} printed another object than the ExecCredential of"
            f" {plugin.api_version} that the kubeconfig announces; install a newer plugin, or"
            " correct the apiVersion in the kubeconfig"
        )
    status = credential.status
    if status is None or not (status.token or status.client_certificate_data):
        raise ConfigError(
            f"the {plugin.where} gave neither a token nor a client certificate; {_TEST_IT}"
        )
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise ConfigError(
            f"the {plugin.where} gave a client certificate without its key, or a key without its"
            f" certificate; {_TEST_IT}"
        )
    return status


def _identity(status: _Status, held: HeldCredentials, plugin: ExecPlugin) -> Identity:
    """What the plugin gave; what it did not give comes from the kubeconfig beside it."""
    key_pair = held.held().key_pair
    if status.client_certificate_data:
        key_pair = KeyPair(
            status.client_certificate_data.encode(),
            status.client_key_data.encode(),
            f"client certificate from the {plugin.where}",
        )
    token = status.token.encode()
    authorization = bearer(token, f"output of the {plugin.where}") if token else ""
    return Identity(authorization, key_pair)


def cluster_info(
    *,
    server: str,
    ca: bytes | None,
    insecure_skip_tls_verify: bool,
    tls_server_name: str,
    proxy_url: str,
    settings: Any,
) -> dict[str, Any]:
    """The cluster as a plugin is told of it; `settings` is its own extension in the kubeconfig."""
    info: dict[str, Any] = {"server": server, "config": settings}
    if ca is not None:
        info["certificate-authority-data"] = base64.b64encode(ca).decode()
    if insecure_skip_tls_verify:
        info["insecure-skip-tls-verify"] = True
    if tls_server_name:
        info["tls-server-name"] = tls_server_name
    if proxy_url:
        info["proxy-url"] = proxy_url
    return info
