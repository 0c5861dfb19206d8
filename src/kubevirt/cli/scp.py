"""virtctl scp: copy files from or to a guest, by the scp of this machine."""

import click

from kubevirt.cli import completing, options
from kubevirt.cli.flags import Command


@click.command("scp", cls=Command)
@options.server
@click.argument("source", metavar="SOURCE", shell_complete=completing.side_of_a_copy)
@click.argument("destination", metavar="DESTINATION", shell_complete=completing.side_of_a_copy)
@options.ssh
@click.option("-r", "--recursive", "is_recursive", is_flag=True, help="Folders with all in them.")
@click.option("--preserve", "preserves", is_flag=True, help="Keep times and modes.")
def command(
    *,
    source: str,
    destination: str,
    username: str,
    identity_file: str,
    known_hosts: str,
    port: int,
    ssh_options: tuple[str, ...],
    is_recursive: bool,
    preserves: bool,
) -> None:
    """Copy files from or to a guest, by the scp of this machine.

    One side is a path here, the other is [USER@]TYPE/NAME[/NAMESPACE]:PATH.
    """
    from kubevirt.cli import openssh  # noqa: PLC0415  # --help needs none of this

    here, there = openssh.place(source), openssh.place(destination)
    target = openssh.with_namespace(openssh.one_remote(here, there))
    settings = openssh.Settings(
        identity_file=identity_file, known_hosts=known_hosts, port=port, options=ssh_options
    )
    switches = [*(["-r"] if is_recursive else []), *(["-p"] if preserves else [])]
    sides = openssh.copy_arguments(here, there, target, username)
    openssh.become("scp", [*openssh.arguments(target, settings), *switches, "--", *sides])
