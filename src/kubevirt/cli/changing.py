"""Changes of state: ask for one, say so, and if that is wanted, wait until it has come about.

What is said is what KubeVirt's virtctl says, word for word: scripts look for it.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import click

from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES
from kubevirt.base.errors import UserError
from kubevirt.cli import asking, subresources, waiting
from kubevirt.cli.asking import Session
from kubevirt.cli.targets import Kind, Target
from kubevirt.cli.waiting import Object
from kubevirt.kube.errors import NotFound
from kubevirt.virt.conditions import AGENT_CONNECTED, REBOOTED

DRY_RUN: Final = "Dry Run execution"
FINAL: Final = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """The options that all of them have."""

    is_dry: bool = False
    is_waiting: bool = False
    timeout_s: float = 300.0
    output: str = "text"


Wait = Callable[[Session, Target, Object | None, float], Awaitable[str]]
"""Gets the instance as it was before; returns how it is now, in a word."""


def change(
    target: Target,
    verb: str,
    wait: Wait,
    how: How,
    body: Mapping[str, Any] | None = None,
    *,
    subresource: str = "",
) -> None:
    """`verb` is the command's name, and the subresource's unless that is another."""
    asking.ask(partial(_change, target, verb, subresource or verb, body, wait, how))


async def _change(
    target: Target,
    verb: str,
    subresource: str,
    body: Mapping[str, Any] | None,
    wait: Wait,
    how: How,
    session: Session,
) -> None:
    target = target.in_namespace(session.namespace)
    is_waiting = how.is_waiting and not how.is_dry
    before = await _instance(session, target) if is_waiting else None
    if body is not None and how.is_dry:
        body = {**body, "dryRun": ["All"]}
    await subresources.put(session, target, subresource, body)
    shown = Shown(target, verb, how)
    shown.accepted()
    status = await wait(session, target, before, how.timeout_s) if is_waiting else ""
    shown.done(status)


class Shown:
    """What a command says of a change: two lines of text, or one object of JSON at its end."""

    def __init__(self, target: Target, verb: str, how: How) -> None:
        self._target = target
        self._verb = verb
        self._how = how

    def accepted(self) -> None:
        if self._how.output == "json":
            return
        if self._how.is_dry:
            click.echo(DRY_RUN)
        click.echo(f"{self._target.kind.upper()} {self._target.name} was scheduled to {self._verb}")

    def done(self, status: str) -> None:
        if self._how.output == "json":
            click.echo(json.dumps(self._document(status), indent=2))
        elif status:
            click.echo(f"{self._target.kind.upper()} {self._target.name} is {status}")

    def _document(self, status: str) -> dict[str, Any]:
        document: dict[str, Any] = {
            "kind": self._target.kind.object_kind,
            "namespace": self._target.namespace,
            "name": self._target.name,
            "action": self._verb,
            "dryRun": self._how.is_dry,
        }
        return {**document, "status": status} if status else document


async def _instance(session: Session, target: Target) -> Object | None:
    try:
        return await session.client.get(
            VIRTUAL_MACHINE_INSTANCES.raw, target.name, target.namespace
        )
    except NotFound:
        return None


# What each waits for.


def machine_is(*statuses: str) -> Wait:
    """A machine with one of these for its printable status."""

    async def wait(
        session: Session, target: Target, _before: Object | None, timeout_s: float
    ) -> str:
        found = await waiting.until(
            session,
            VIRTUAL_MACHINES,
            target.name,
            target.namespace,
            lambda vm: vm is None or waiting.printable(vm) in statuses,
            what=" or ".join(statuses),
            timeout_s=timeout_s,
        )
        if found is None:
            raise UserError(f"VM {target.name} was deleted meanwhile", reason="NotFound")
        return waiting.printable(found)

    return wait


async def runs_anew(
    session: Session, target: Target, before: Object | None, timeout_s: float
) -> str:
    """Another instance than before runs."""
    former = waiting.uid(before)
    await _instance_until(
        session,
        target,
        lambda vmi: (
            vmi is not None and waiting.uid(vmi) != former and waiting.phase(vmi) == "Running"
        ),
        "Running anew",
        timeout_s,
    )
    return "Running"


async def is_paused(
    session: Session, target: Target, _before: Object | None, timeout_s: float
) -> str:
    await _instance_until(session, target, _is_paused, "Paused", timeout_s)
    return "Paused"


async def is_running(
    session: Session, target: Target, _before: Object | None, timeout_s: float
) -> str:
    """It runs and nothing pauses it."""

    def wanted(vmi: Object | None) -> bool:
        return waiting.phase(vmi) == "Running" and not _is_paused(vmi)

    await _instance_until(session, target, wanted, "Running", timeout_s)
    return "Running"


async def has_rebooted(
    session: Session, target: Target, before: Object | None, timeout_s: float
) -> str:
    """Its guest has booted anew, and its agent, if there was one, is back. Who is paused comes no further."""
    former, mark = waiting.uid(before), waiting.message(before, REBOOTED)
    had_agent = waiting.condition(before, AGENT_CONNECTED) == "True"

    def has_ended(vmi: Object | None) -> bool:
        return waiting.uid(vmi) != former or waiting.phase(vmi) in FINAL

    def wanted(vmi: Object | None) -> bool:
        if has_ended(vmi):
            return True
        if waiting.message(vmi, REBOOTED) == mark:
            return False
        return _is_paused(vmi) or not had_agent or waiting.condition(vmi, AGENT_CONNECTED) == "True"

    found = await _instance_until(session, target, wanted, "up again", timeout_s)
    if has_ended(found):
        raise UserError(f"VMI {target.name} has ended instead of booting anew", reason="Ended")
    return "Paused" if _is_paused(found) else "Running"


def _is_paused(vmi: Object | None) -> bool:
    return waiting.condition(vmi, "Paused") == "True"


async def _instance_until(
    session: Session, target: Target, wanted: waiting.Wanted, what: str, timeout_s: float
) -> Object | None:
    return await waiting.until(
        session,
        VIRTUAL_MACHINE_INSTANCES,
        target.name,
        target.namespace,
        wanted,
        what=what,
        timeout_s=timeout_s,
    )


def as_instance(target: Target) -> Target:
    """A machine's instance has its name."""
    return replace(target, kind=Kind.VMI)


def only(target: Target, kind: Kind, verb: str) -> Target:
    """What a command is about, where it is about one kind alone."""
    if target.kind is not kind:
        raise UserError(
            f"only a {kind} can be told to {verb}; write {kind}/{target.name}", reason="Usage"
        )
    return target
