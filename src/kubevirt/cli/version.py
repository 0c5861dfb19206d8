"""virtctl version: ours, and that of the server which the kubeconfig names."""

import json
import os

import click

import kubevirt
from kubevirt.cli import options


@click.command("version")
@click.option("--client", "is_client_only", is_flag=True, help="Ours alone; asks no server.")
@click.option("--kubeconfig", metavar="FILE", help="In place of kubectl's own.")
@click.option("--context", help="In place of the current one.")
@options.output
def command(
    is_client_only: bool,  # noqa: FBT001  # click's
    kubeconfig: str | None,
    context: str | None,
    output: str,
) -> None:
    """Show the versions of virtctl and of the server that your kubeconfig names."""
    found = {"clientVersion": kubevirt.__version__}
    if not is_client_only:
        found["serverVersion"] = _of_server(kubeconfig, context)
    if output == "json":
        click.echo(json.dumps(found, indent=2))
        return
    for name, version in found.items():
        click.echo(f"{name[:6].title()} Version: {version}")


def _of_server(path: str | None, context: str | None) -> str:
    import asyncio  # noqa: PLC0415  # with --client none of this is needed

    from kubevirt.kube.access import default_config  # noqa: PLC0415
    from kubevirt.kube.client import Client  # noqa: PLC0415

    async def ask() -> bytes:
        async with Client(default_config.find(os.environ, path=path, context=context)) as client:
            return await client.raw("GET", "/version")

    return str(json.loads(asyncio.run(ask()))["gitVersion"])
