"""Versions of what answers: of KubeVirt, and of the Kubernetes below it."""

import json
from contextlib import suppress

import click

import kubevirt
from kubevirt.base.errors import UserError
from kubevirt.base.semantic_version import semantic
from kubevirt.cli import subresources
from kubevirt.cli.asking import Session
from kubevirt.kube.errors import ServiceUnavailable


async def of_server(session: Session) -> dict[str, str]:
    """By the names that `virtctl version -o json` gives them."""
    found: dict[str, str] = {}
    try:
        told = json.loads(await subresources.raw(session, "GET", "version"))
        found["serverVersion"] = str(told["gitVersion"])
        _warn_if_apart(found["serverVersion"])
    except (UserError, ServiceUnavailable) as error:
        if getattr(error, "reason", "") not in ("NotFound", "ServiceUnavailable"):
            raise
        click.echo(f"virtctl: {error}", err=True)
    kubernetes = json.loads(await session.client.raw("GET", "/version"))
    return {**found, "kubernetesVersion": str(kubernetes["gitVersion"])}


async def compare(session: Session) -> None:
    """Warns of a server of another version; one that does not tell its own is left at that."""
    with suppress(Exception):  # the command itself says what is wrong
        told = json.loads(await subresources.raw(session, "GET", "version"))
        _warn_if_apart(str(told["gitVersion"]))


def _warn_if_apart(server: str) -> None:
    """A release adds fields and subresources, so the two should be of one."""
    if semantic(server.removeprefix("v")) != semantic(kubevirt.__version__):
        click.echo(
            f"virtctl: this virtctl is {kubevirt.__version__} and the server is {server}; if something"
            " is not as you expect, use the virtctl of the server's version",
            err=True,
        )
