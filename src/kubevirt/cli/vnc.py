"""virtctl vnc: the screen of a guest; virtctl vnc screenshot: a picture of it."""

from pathlib import Path
from typing import Any, Final

import click

from kubevirt.cli import completing, exit_codes, options
from kubevirt.cli.flags import Command

VIEWERS: Final = ("tiger", "chicken", "real", "remote-viewer")


class _Vnc(Command):
    """`vnc VMI` opens a screen; only the word screenshot makes it another command."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        if "screenshot" not in args:
            return super().make_context(info_name, args, parent, **extra)
        rest = list(args)
        rest.remove("screenshot")
        return screenshot.make_context("vnc screenshot", rest, parent, **extra)


@click.command("vnc", cls=_Vnc)
@options.server
@click.argument("instance", metavar="VMI", shell_complete=completing.instances)
@click.option(
    "--address", default="127.0.0.1", show_default=True, help="Where the viewer connects to."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Likewise; 0 takes a free one."
)
@click.option("--proxy-only", "is_proxy", is_flag=True, help="Show the port; start no viewer.")
@click.option("--preserve-session", "preserves", is_flag=True, help="Cut nobody off who looks on.")
@click.option("--vnc-type", "viewer", type=click.Choice(VIEWERS), help="Which viewer.")
@click.option("--vnc-path", "path", default="", metavar="FILE", help="Where that viewer is.")
def command(
    *,
    instance: str,
    address: str,
    port: int,
    is_proxy: bool,
    preserves: bool,
    viewer: str | None,
    path: str,
) -> int:
    """Open the screen of a guest in a viewer of this machine.

    virtctl vnc screenshot VMI takes a picture of it instead.
    """
    from functools import partial  # noqa: PLC0415  # --help needs none of this

    from kubevirt.cli import asking, changing, screens, targets, viewers  # noqa: PLC0415

    target = changing.as_instance(targets.parse(instance, targets.Kind.VMI))
    chosen = None if is_proxy else viewers.find(viewer or "", path)
    wish = screens.Wish(address=address, port=port, preserves_session=preserves, viewer=chosen)
    try:
        asking.ask(partial(screens.show, target, wish))
    except KeyboardInterrupt:  # which is how one ends it
        return exit_codes.OK
    return exit_codes.OK


@click.command("vnc screenshot", cls=Command)
@options.server
@click.argument("instance", metavar="VMI", shell_complete=completing.instances)
@click.option(
    "-f",
    "--file",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Where to write it, PNG; standard output unless given.",
)
@click.option(
    "-m", "--move-cursor", "moves", is_flag=True, help="Wake the screen by the mouse first."
)
def screenshot(*, instance: str, file: Path | None, moves: bool) -> None:
    """Take a picture of the screen of a guest."""
    import sys  # noqa: PLC0415  # --help needs none of this
    from functools import partial  # noqa: PLC0415

    from kubevirt.cli import asking, changing, screens, targets  # noqa: PLC0415

    is_shown = file is None or str(file) == "-"
    if is_shown and sys.stdout.isatty():
        raise click.UsageError("a picture is nothing for a terminal; name a file with --file")
    target = changing.as_instance(targets.parse(instance, targets.Kind.VMI))
    picture = asking.ask(partial(screens.picture, target, moves_cursor=moves))
    if file is None or is_shown:
        sys.stdout.buffer.write(picture)
    else:
        file.write_bytes(picture)
