"""virtctl down: stops the process of a home, gracefully; removes the home if that is wanted."""

import os
from pathlib import Path

import click

from kubevirt.base.errors import UserError
from kubevirt.cli import options
from kubevirt.cli.render import steps
from kubevirt.embedded.home import Home
from kubevirt.embedded.process.progress import Listener, step
from kubevirt.embedded.process.stopping import Ended, stop


@click.command("down")
@options.home
@click.option("--delete-data", is_flag=True, help="Remove the folder, too, with all that is in it.")
@options.progress
def command(folder: Path, delete_data: bool, progress: str) -> None:  # noqa: FBT001  # click's
    """Stop pods gracefully, then everything else; nothing stays on the machine but the folder.

    The next `virtctl up` starts again what restart policies ask for.
    """
    home = Home(folder.absolute())
    if not home.is_there:
        click.echo(f"there is no embedded home in {home.path}, so nothing is up", err=True)
        return
    told = steps.listener(progress)
    ended = stop(home, told)
    if ended is Ended.NOT_UP:
        click.echo(f"{home.path} is not up", err=True)
    if delete_data:
        _remove(home, told)


def _remove(home: Home, told: Listener) -> None:
    from kubevirt.embedded.process import addresses, kubeconfig  # noqa: PLC0415  # only for this

    home.check_is_removable()
    with step(told, "removing data") as current:
        current.detail = str(home.path)
        try:
            if home.kubeconfig.exists():
                kubeconfig.take_out(kubeconfig.user_file(os.environ), home.kubeconfig)
        except UserError as error:
            click.echo(f"virtctl: {error}", err=True)
        addresses.forget(home)
        home.remove()
