"""virtctl completion: what a shell has to read to complete virtctl's words."""

import click

from kubevirt.cli.flags import Command


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Write what makes a shell complete virtctl's words, names on the server among them.

    For bash: source <(virtctl completion bash)
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415  # loads a lot

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"there is no completion for {shell}")
    click.echo(found(ctx.find_root().command, {}, "virtctl", "_VIRTCTL_COMPLETE").source())
