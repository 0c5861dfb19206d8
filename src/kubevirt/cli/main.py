"""virtctl's entry: a table of commands, of which one is loaded.

The table has the line that `--help` shows, so that nothing is imported for it: a command that needs no server
answers within a tenth of a second.
"""

import sys
from importlib import import_module
from typing import Final

import click

from kubevirt.base.errors import KubevirtError, UserError
from kubevirt.cli import exit_codes

COMMANDS: Final = {
    "up": "Bring up a Kubernetes on this machine, in one process",
    "down": "Stop it; with --delete-data, remove it",
    "status": "Show whether it is up, and how it is",
    "doctor": "Check what this machine lacks, and say how to mend it",
    "version": "Show the versions of virtctl and of the server",
}
"""Each is the file of its name."""


class LazyCommands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = import_module(f"kubevirt.cli.{cmd_name}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(_unknown(args[0]))
        return super().resolve_command(ctx, args)


def _unknown(name: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  # only for who mistypes

    near = get_close_matches(name, COMMANDS, n=1)
    way_out = f"did you mean {near[0]}?" if near else "virtctl --help shows them all"
    return f"there is no command {name}; {way_out}"


@click.group(
    cls=LazyCommands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
def virtctl() -> None:
    """Virtual machines as Kubernetes objects, on this machine or in a cluster."""


def main(words: list[str] | None = None) -> None:
    sys.exit(_run(words))


def _run(words: list[str] | None) -> int:
    try:
        outcome = virtctl.main(words, prog_name="virtctl", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return exit_codes.USAGE
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "virtctl"
        _say(f"{_sentence(error.format_message())} (see {where} --help)")
        return exit_codes.USAGE
    except click.Abort:
        _say("interrupted")
        return exit_codes.INTERRUPTED
    except UserError as error:
        _say(str(error))
        return exit_codes.of(error.reason)
    except (KubevirtError, OSError) as error:
        _say(str(error))
        return exit_codes.FAILED
    return outcome if isinstance(outcome, int) else exit_codes.OK


def _sentence(text: str) -> str:
    """Click's own begin and end as sentences of a page; ours stand after a name."""
    return (text[:1].lower() + text[1:]).rstrip(".")


def _say(text: str) -> None:
    click.echo(f"virtctl: {text}", err=True)


if __name__ == "__main__":
    main()
