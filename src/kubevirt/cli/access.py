"""Which server, and as whom: what the common flags say, laid over what the kubeconfig says.

The flags are in `server_flags.py`. An `Access` is made of them when a server is really asked.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final

import click

from kubevirt.base.errors import ConfigError
from kubevirt.cli import server_flags

if TYPE_CHECKING:
    from kubevirt.kube.access.config import Config

INHERITED: Final = "_VIRTCTL_ACCESS"
"""A variable with the flags of the virtctl that started a program which starts virtctl again: ssh does. A
token on a command line could be read by everybody on the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The flags, by the names that kubectl gives them."""

    kubeconfig: str = ""
    context: str = ""
    cluster: str = ""
    user: str = ""
    namespace: str = ""
    server: str = ""
    token: str = ""
    username: str = ""
    password: str = ""
    certificate_authority: str = ""
    client_certificate: str = ""
    client_key: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    impersonate: str = ""
    impersonate_uid: str = ""
    impersonate_groups: tuple[str, ...] = ()
    request_timeout_s: float = 0.0
    verbosity: int = 0

    def config(self, env: Mapping[str, str]) -> "Config":
        from kubevirt.cli import configuring  # noqa: PLC0415  # YAML and more

        return configuring.configured(self, env)

    def inherited_env(self, env: Mapping[str, str]) -> dict[str, str]:
        """An environment in which another virtctl asks the same server in the same name."""
        return {**env, INHERITED: json.dumps(asdict(self))}


def current() -> Access:
    """What the flags of the command that runs say."""
    return of(click.get_current_context(), os.environ)


def of(ctx: click.Context, env: Mapping[str, str]) -> Access:
    kept = server_flags.kept(ctx)
    known = {name: value for name, value in kept.items() if name in Access.__dataclass_fields__}
    return replace(_inherited(env), **known)


def _inherited(env: Mapping[str, str]) -> Access:
    given = env.get(INHERITED)
    if not given:
        return Access()
    try:
        found = json.loads(given)
        return Access(**{**found, "impersonate_groups": tuple(found["impersonate_groups"])})
    except (ValueError, TypeError, KeyError):
        raise ConfigError(
            f"the variable {INHERITED} is not what virtctl wrote; remove it from your environment"
        ) from None
