"""Versions of what answers: of KubeVirt, and of the Kubernetes below it."""

import json

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


def _warn_if_apart(server: str) -> None:
    """A release adds fields and subresources, so the two should be of one."""
    if semantic(server.removeprefix("v")) != semantic(kubevirt.__version__):
        click.echo(
            f"virtctl: this virtctl is {kubevirt.__version__} and the server is {server}; if something"
            " is not as you expect, use the virtctl of the server's version",
            err=True,
        )
