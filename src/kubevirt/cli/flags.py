"""Flags as Go programs have them, because scripts made for KubeVirt's virtctl are written that way.

`--dry-run=true` and `--dry-run` are the same, `-n=lab` is `-n lab`, and an option may have a meaning of its
own without a value (`--virt-api` shows, `--virt-api=7` sets). Click knows none of these, so words are put
into click's form before it reads them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import click

_TRUE: Final = ("true", "t", "1")
_FALSE: Final = ("false", "f", "0")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_PIECE: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")


class Command(click.Command):
    """`bare` has what an option means that is given without a value."""

    def __init__(self, *args: Any, bare: Mapping[str, str] | None = None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._bare = bare or {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(self._in_form(args)))

    def _in_form(self, words: Sequence[str]) -> Iterator[str]:
        switches = _switches(self)
        for index, word in enumerate(words):
            name, has_value, value = word.partition("=")
            if word == "--":
                yield from words[index:]
                return
            if name in switches and has_value:
                yield from _switched(switches[name], name, value)
            elif not has_value and name in self._bare:
                yield f"{name}={self._bare[name]}"
            elif re.fullmatch("-[a-z]", name) and has_value:
                yield name + value
            else:
                yield word


def _switches(command: click.Command) -> dict[str, click.Option]:
    options = (each for each in command.params if isinstance(each, click.Option))
    return {name: option for option in options if option.is_flag for name in option.opts}


def _switched(option: click.Option, name: str, value: str) -> Iterator[str]:
    if value.lower() in _TRUE:
        yield name
    elif value.lower() in _FALSE:
        # A switch that is off by default has no opposite, and needs none.
        yield from option.secondary_opts[:1]
    else:
        raise click.BadOptionUsage(name, f"{name} is either true or false, not {value}")


class Duration(click.ParamType[float]):
    """Seconds, written as Go writes them: 90s, 5m, 1h30m; a bare number is in the unit of the option."""

    name = "duration"

    def __init__(self, unit: str = "s") -> None:
        self._unit = unit

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, float):
            return value
        text = str(value)
        if re.fullmatch(r"\d+(\.\d+)?", text):
            text += self._unit
        if not re.fullmatch(f"({_PIECE.pattern})+", text):
            self.fail(f"{text!r} is no time such as 90s, 5m or 1h30m", param, ctx)
        return sum(float(number) * _UNITS[unit] for number, unit in _PIECE.findall(text))
