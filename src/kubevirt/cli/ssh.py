"""virtctl ssh: log in to a guest by the ssh of this machine."""

import click

from kubevirt.cli import completing, options
from kubevirt.cli.flags import Command


@click.command("ssh", cls=Command)
@options.server
@click.argument(
    "target", metavar="[USER@]TYPE/NAME[/NAMESPACE]", shell_complete=completing.of_either
)
@options.ssh
@click.option(
    "-c", "--command", "remote", default="", metavar="TEXT", help="Run it, in place of a shell."
)
def command(
    *,
    target: str,
    username: str,
    identity_file: str,
    known_hosts: str,
    port: int,
    ssh_options: tuple[str, ...],
    remote: str,
) -> None:
    """Log in to a guest by the ssh of this machine, through the API server.

    Whom ssh knows is kept in a file of its own, because guests come and go under the same names.
    """
    from kubevirt.cli import openssh, targets  # noqa: PLC0415  # --help needs none of this

    user, parsed = targets.parse_with_user(target, targets.Kind.VMI)
    whom = openssh.with_namespace(parsed)
    settings = openssh.Settings(
        identity_file=identity_file, known_hosts=known_hosts, port=port, options=ssh_options
    )
    words = [*openssh.arguments(whom, settings), openssh.host(whom, user or username)]
    openssh.become("ssh", [*words, remote] if remote else words)
