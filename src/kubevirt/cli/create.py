"""virtctl create: manifests from flags, for kubectl to apply."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from kubevirt.cli import options
from kubevirt.cli.flags import Command

EXCLUSIVE: Final[tuple[Mapping[str, str], ...]] = (
    {
        "memory": "--memory",
        "instancetype": "--instancetype",
        "infers_instancetype": "--infer-instancetype",
        "infer_instancetype_from": "--infer-instancetype-from",
    },
    {
        "preference": "--preference",
        "infers_preference": "--infer-preference",
        "infer_preference_from": "--infer-preference-from",
    },
    *(
        {"user_data": "--cloud-init-user-data", name: flag}
        for name, flag in (
            ("user", "--user"),
            ("password_file", "--password-file"),
            ("ssh_keys", "--ssh-key"),
            ("manages_ssh", "--ga-manage-ssh"),
        )
    ),
)
"""Of each of these, one at most."""


@click.group("create")
def command() -> None:
    """Write manifests, for kubectl to apply."""


@command.command("vm", cls=Command)
@options.server
@click.option(
    "--name", default="", metavar="TEXT", help="Of the machine; vm- and a few letters unless given."
)
@click.option(
    "--run-strategy", default="Always", show_default=True, help="Whether and when it runs."
)
@click.option(
    "--termination-grace-period",
    "grace_period_s",
    type=click.IntRange(0),
    default=180,
    show_default=True,
    help="Seconds to shut down in.",
)
@click.option("--memory", default="", metavar="TEXT", help="512Mi unless given or inferred.")
@click.option("--instancetype", default="", metavar="[KIND/]NAME", help="Its size by name.")
@click.option(
    "--infer-instancetype/--no-infer-instancetype",
    "infers_instancetype",
    default=True,
    help="From the volume that it boots from.",
)
@click.option(
    "--infer-instancetype-from", default="", metavar="VOLUME", help="Likewise, from another."
)
@click.option("--preference", default="", metavar="[KIND/]NAME", help="Its preferences by name.")
@click.option(
    "--infer-preference/--no-infer-preference",
    "infers_preference",
    default=True,
    help="From the volume that it boots from.",
)
@click.option(
    "--infer-preference-from", default="", metavar="VOLUME", help="Likewise, from another."
)
@click.option(
    "--volume-containerdisk",
    "container_disks",
    multiple=True,
    metavar="PARAMETERS",
    help="src, name, bootorder. May be repeated, as the next two.",
)
@click.option(
    "--volume-pvc", "claims", multiple=True, metavar="PARAMETERS", help="src, name, bootorder."
)
@click.option(
    "--volume-import",
    "imported",
    multiple=True,
    metavar="PARAMETERS",
    help="type (blank, gcs, http, imageio, pvc, registry, s3, vddk, snapshot, ds), size, name, bootorder, and those of the type.",
)
@click.option(
    "--volume-sysprep",
    "sysprep",
    default="",
    metavar="PARAMETERS",
    help="src, type (configMap, secret).",
)
@click.option("--user", default="", metavar="TEXT", help="The guest's main user.")
@click.option(
    "--password-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With that user's password.",
)
@click.option(
    "--ssh-key", "ssh_keys", multiple=True, metavar="TEXT", help="That user's. May be repeated."
)
@click.option(
    "--ga-manage-ssh/--no-ga-manage-ssh",
    "manages_ssh",
    default=None,
    help="Whether the guest's agent may write keys.",
)
@click.option(
    "--access-cred",
    "credentials",
    multiple=True,
    metavar="PARAMETERS",
    help="src, type (ssh, password), method (ga, nocloud, configdrive), user. May be repeated.",
)
@click.option(
    "--cloud-init",
    "data_source",
    default="",
    metavar="TEXT",
    help="nocloud unless given; or configdrive, none.",
)
@click.option(
    "--cloud-init-user-data",
    "user_data",
    default="",
    metavar="BASE64",
    help="In place of what the flags above write.",
)
@click.option("--cloud-init-network-data", "network_data", default="", metavar="BASE64")
@click.option("--volume-datasource", "volume_datasource", multiple=True, hidden=True)
@click.option("--volume-clone-pvc", "volume_clone_pvc", multiple=True, hidden=True)
@click.option("--volume-blank", "volume_blank", multiple=True, hidden=True)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["yaml", "json"]),
    default="yaml",
    show_default=True,
    help="The form of the manifest.",
)
@click.pass_context
def vm(ctx: click.Context, /, output: str, **given: Any) -> None:
    """Write the manifest of a VirtualMachine.

    Volumes boot in this order unless bootorder says another: container disks, claims, imported ones.
    """
    explicit = frozenset(each for each in given if _is_given(ctx, each))
    for names in EXCLUSIVE:
        if len(explicit & names.keys()) > 1:
            raise click.UsageError(f"use one of {', '.join(names.values())}")
    from kubevirt.cli import access, manifests  # noqa: PLC0415  # --help needs none of this
    from kubevirt.cli.creating import machine, wishes  # noqa: PLC0415

    for warning in wishes.warnings(explicit, given):
        click.echo(f"virtctl: {warning}", err=True)
    wish = wishes.machine(given, explicit, access.current().namespace)
    click.echo(manifests.as_text(machine.manifest(wish, wishes.letters), output))


def _is_given(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
