"""virtctl port-forward: ports of a guest, reached from this machine through the API server."""

import click

from kubevirt.cli import completing, exit_codes, options
from kubevirt.cli.flags import Command


@click.command("port-forward", cls=Command)
@options.server
@click.argument("target", metavar="TYPE/NAME[/NAMESPACE]", shell_complete=completing.of_either)
@click.argument("ports", metavar="[PROTOCOL/]LOCAL[:TARGET]...", nargs=-1, required=True)
@click.option("--stdio", "is_stdio", is_flag=True, help="In place of a local port, for one port.")
@click.option(
    "--address", default="127.0.0.1", show_default=True, help="Where local ports are opened."
)
def command(
    *,
    target: str,
    ports: tuple[str, ...],
    is_stdio: bool,
    address: str,
) -> int:
    """Reach ports of a guest from this machine: TCP, or UDP as udp/LOCAL:TARGET.

    All goes through the API server. For more than a little, make a Service: virtctl expose.
    """
    from functools import partial  # noqa: PLC0415  # --help needs none of this

    from kubevirt.cli import asking, forwarding, targets  # noqa: PLC0415
    from kubevirt.cli.streams.ports import parse  # noqa: PLC0415

    whom = targets.parse(target, targets.Kind.VMI)
    wanted = [parse(each) for each in ports]
    if is_stdio and len(wanted) != 1:
        raise click.UsageError(
            "standard input and output are one connection: name one port with --stdio"
        )
    try:
        if is_stdio:
            asking.ask(partial(forwarding.through_stdio, whom, wanted[0]))
        else:
            asking.ask(partial(forwarding.forward, whom, wanted, address))
    except KeyboardInterrupt:  # which is how one ends it
        return exit_codes.OK
    return exit_codes.OK
