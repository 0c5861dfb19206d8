"""Flags as Go programs have them."""

import click
import pytest

from kubevirt.cli import access, flags, options
from kubevirt.cli.access import Access


@click.command("show", cls=flags.Command, bare={"--level": "all"})
@options.server
@click.option("--dry-run", is_flag=True)
@click.option("--infer/--no-infer", default=True)
@click.option("--level", default="")
@click.option("--user", default="")
@click.option("--timeout", type=flags.Duration(), default=0.0)
@click.argument("rest", nargs=-1)
def show(**given: object) -> dict[str, object]:
    return given


def read(*words: str) -> dict[str, object]:
    found: dict[str, object] = show.main(list(words), standalone_mode=False)
    return found


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        (["--dry-run"], "dry_run", True),
        (["--dry-run=true"], "dry_run", True),
        (["--dry-run=false"], "dry_run", False),
        (["--infer=false"], "infer", False),
        (["--infer=1"], "infer", True),
        (["--level"], "level", "all"),
        (["--level=3"], "level", "3"),
        (["--timeout", "90"], "timeout", 90.0),
        (["--timeout=1h30m"], "timeout", 5400.0),
        (["--timeout=1.5s"], "timeout", 1.5),
        (["--user=jo"], "user", "jo"),
        (["--", "--dry-run=true"], "rest", ("--dry-run=true",)),
        (["a=b"], "rest", ("a=b",)),
    ],
)
def test_a_flag_is_read_as_go_reads_it(words: list[str], name: str, value: object) -> None:
    assert read(*words)[name] == value


@pytest.mark.parametrize("words", [["--dry-run=perhaps"], ["--timeout=soon"], ["--timeout=5x"]])
def test_a_wrong_value_is_a_wrong_line(words: list[str]) -> None:
    with pytest.raises(click.UsageError):
        read(*words)


def test_common_flags_are_kept_and_a_commands_own_name_wins() -> None:
    with show.make_context("show", ["-n=lab", "--user=jo", "--as-group=a", "--as-group=b"]) as ctx:
        assert access.of(ctx, {}) == Access(namespace="lab", impersonate_groups=("a", "b"))


def test_flags_are_handed_on_in_the_environment() -> None:
    given = Access(token="secret", impersonate_groups=("a",), request_timeout_s=3.0)
    env = given.inherited_env({"HOME": "/root"})
    assert env["HOME"] == "/root"
    with show.make_context("show", ["--context=lab"]) as ctx:
        found = access.of(ctx, env)
    assert (found.token, found.context) == ("secret", "lab")
    assert found.impersonate_groups == ("a",)
