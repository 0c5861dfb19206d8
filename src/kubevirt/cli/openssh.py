"""The ssh and scp of this machine, led to a guest through the API server.

They get a ProxyCommand that is virtctl again. We become the program, so the terminal, the signals and the exit
code are its own. Where the server is and who asks is handed on in the environment: a token in a command line
could be read by everybody on the machine.
"""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from kubevirt.base.errors import ProgramNotFound, UserError
from kubevirt.cli import access
from kubevirt.cli.targets import Kind, Target, parse_with_user

KNOWN_HOSTS: Final = "~/.ssh/kubevirt_known_hosts"
"""Guests come and go under the same names, so they are kept apart from other hosts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    user: str = ""
    identity_file: str = ""
    known_hosts: str = KNOWN_HOSTS
    port: int = 22
    options: tuple[str, ...] = ()
    """For the program, as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One side of a copy."""

    target: Target | None
    user: str = ""
    path: str = ""


def place(text: str) -> Place:
    """A path here, or [USER@]TYPE/NAME[/NAMESPACE]:PATH."""
    before, colon, path = text.partition(":")
    if not colon or before.startswith((".", "/")) or before == "":
        return Place(target=None, path=text)
    user, target = parse_with_user(before, Kind.VMI)
    return Place(target=target, user=user, path=path)


def one_remote(source: Place, to: Place) -> Target:
    match source.target, to.target:
        case (Target() as found, None) | (None, Target() as found):
            return found
    raise UserError(
        "one side of a copy is in a guest, as vmi/NAME:PATH, and one is a path here", reason="Usage"
    )


def arguments(target: Target, settings: Settings) -> list[str]:
    """What ssh and scp have in common."""
    words = ["-o", f"ProxyCommand={proxy_command(target, settings.port)}"]
    if settings.known_hosts:
        file = Path(settings.known_hosts).expanduser()
        words += ["-o", f'UserKnownHostsFile="{file}"']
    words += settings.options
    if settings.identity_file:
        words += ["-i", settings.identity_file]
    return words


def proxy_command(target: Target, port: int) -> str:
    """For the shell that ssh starts; a % means something to ssh."""
    where = f"{target.kind}/{target.name}/{target.namespace}"
    words = [sys.executable, "-m", "kubevirt.cli", "port-forward", "--stdio=true", where, str(port)]
    return shlex.join(words).replace("%", "%%")


def host(target: Target, user: str = "") -> str:
    """The name of a guest among the known hosts."""
    name = f"{target.kind}.{target.name}.{target.namespace}"
    return f"{user}@{name}" if user else name


def copy_arguments(source: Place, to: Place, target: Target, user: str) -> list[str]:
    def side(each: Place) -> str:
        if each.target is None:
            return each.path
        return f"{host(target, each.user or user)}:{each.path}"

    return [side(source), side(to)]


def with_namespace(target: Target) -> Target:
    """Known here already: a ProxyCommand has to name it."""
    if target.namespace:
        return target
    return target.in_namespace(access.current().config(os.environ).namespace)


def become(program: str, words: Sequence[str]) -> NoReturn:
    path = os.environ.get("PATH", os.defpath)
    found = shutil.which(program, path=path)
    if found is None:
        raise ProgramNotFound(program, path, "openssh-client")
    sys.stdout.flush()
    os.execve(found, [program, *words], access.current().inherited_env(os.environ))  # noqa: S606  # no shell
