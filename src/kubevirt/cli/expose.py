"""virtctl expose: a Service that leads to a guest."""

import click

from kubevirt.cli import completing, options
from kubevirt.cli.flags import Command


@click.command("expose", cls=Command)
@options.server
@click.argument("kind", metavar="TYPE", shell_complete=completing.exposed_kinds)
@click.argument("name", metavar="NAME", shell_complete=completing.exposed)
@click.option("--name", "service", required=True, metavar="TEXT", help="Of the service.")
@click.option(
    "--cluster-ip", default="", metavar="TEXT", help="Its address; None for a headless service."
)
@click.option(
    "--external-ip", default="", metavar="TEXT", help="A further address that leads to it."
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of the service.")
@click.option("--protocol", default="TCP", show_default=True, help="TCP or UDP.")
@click.option("--target-port", default="", metavar="TEXT", help="Number or name, in the guest.")
@click.option(
    "--type", "form", default="ClusterIP", show_default=True, help="Or NodePort, LoadBalancer."
)
@click.option("--port-name", default="", metavar="TEXT")
@click.option("--ip-family", default="", metavar="TEXT", help="IPv4, IPv6, or both with a comma.")
@click.option(
    "--ip-family-policy", default="", metavar="TEXT", help="SingleStack, PreferDualStack, …"
)
@options.output
def command(
    *,
    kind: str,
    name: str,
    service: str,
    cluster_ip: str,
    external_ip: str,
    port: int,
    protocol: str,
    target_port: str,
    form: str,
    port_name: str,
    ip_family: str,
    ip_family_policy: str,
    output: str,
) -> None:
    """Make a Service that leads to a guest.

    TYPE is vm, vmi or vmirs. Without --port, the ports that the guest's interface lists are taken.
    """
    from functools import partial  # noqa: PLC0415  # --help needs none of this

    from kubevirt.cli import asking, exposing  # noqa: PLC0415

    wish = exposing.Wish(
        kind=kind,
        name=name,
        service=service,
        cluster_ip=cluster_ip,
        external_ip=external_ip,
        port=port,
        protocol=protocol,
        target_port=target_port,
        form=form,
        port_name=port_name,
        ip_families=exposing.families(ip_family),
        ip_family_policy=ip_family_policy,
    )
    exposing.check(wish)
    asking.ask(partial(exposing.expose, wish, output))
