"""What a guest's agent tells, as the server gives it."""

import json
from functools import partial

import click

from kubevirt.cli import asking, subresources, targets
from kubevirt.cli.asking import Session
from kubevirt.cli.targets import Kind, Target


def show(instance: str, subresource: str) -> None:
    asking.ask(partial(_show, targets.parse(instance, Kind.VMI), subresource))


async def _show(target: Target, subresource: str, session: Session) -> None:
    whom = Target(
        kind=Kind.VMI, name=target.name, namespace=target.in_namespace(session.namespace).namespace
    )
    answer = await subresources.get(session, whom, subresource)
    click.echo(json.dumps(json.loads(answer), indent=2, ensure_ascii=False))
