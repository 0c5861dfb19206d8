"""virtctl version: ours, and that of the KubeVirt which the kubeconfig leads to."""

import json

import click

import kubevirt
from kubevirt.cli import options
from kubevirt.cli.flags import Command


@click.command("version", cls=Command)
@options.server
@click.option("-c", "--client", "is_client_only", is_flag=True, help="Ours alone; asks no server.")
@options.output
def command(*, is_client_only: bool, output: str) -> None:
    """Show the versions of virtctl and of the server that your kubeconfig names."""
    found = {"clientVersion": kubevirt.__version__}
    if not is_client_only:
        found |= _of_server()
    if output == "json":
        click.echo(json.dumps(found, indent=2))
        return
    for name, version in found.items():
        click.echo(f"{name.removesuffix('Version').capitalize()} Version: {version}")


def _of_server() -> dict[str, str]:
    from kubevirt.cli import asking, versions  # noqa: PLC0415  # with --client none of this is needed

    return asking.ask(versions.of_server, compares=False)
