"""How much each component logs: it stands in the KubeVirt object, and takes effect without a restart."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import click

from kubevirt.api.scheme import KUBEVIRTS
from kubevirt.base.errors import UserError
from kubevirt.cli.adm import COMPONENTS, SHOW
from kubevirt.cli.asking import Session
from kubevirt.kube.patches import MergePatch

DEFAULT: Final = 2
_FIELDS: Final = dict(
    zip(
        COMPONENTS,
        ("virtAPI", "virtController", "virtHandler", "virtLauncher", "virtOperator"),
        strict=True,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    shown: tuple[str, ...]
    """Components, in their order."""
    levels: Mapping[str, int]
    """To set, by component."""
    is_reset: bool = False

    @classmethod
    def of(cls, given: Mapping[str, str], *, is_reset: bool) -> "Wish":
        """`given` has what follows each flag; `all` is one of them."""
        asked = {name for name, value in given.items() if value == SHOW}
        levels = {name: _level(name, value) for name, value in given.items() if name not in asked}
        if asked and (levels or is_reset):
            raise UserError(
                "verbosity is either shown or changed: give each flag a value, or none",
                reason="Usage",
            )
        if not given and not is_reset:
            raise UserError("name a component, or --all", reason="Usage")
        everybody = levels.pop("all", None)
        if everybody is not None:
            levels = {**dict.fromkeys(COMPONENTS, everybody), **levels}
        named = {*asked, *levels}
        is_all = "all" in named or is_reset
        shown = tuple(each for each in COMPONENTS if is_all or each in named)
        return cls(shown=shown, levels=levels, is_reset=is_reset)

    @property
    def changes(self) -> bool:
        return bool(self.levels) or self.is_reset


async def carry_out(wish: Wish, output: str, session: Session) -> None:
    found = await _installation(session)
    if wish.changes:
        await _change(wish, found, session)
        found = await _installation(session)
    levels = _levels(found)
    shown = {each: int(levels.get(_FIELDS[each], DEFAULT)) for each in wish.shown}
    if output == "json":
        click.echo(json.dumps(shown, indent=2))
        return
    for name, level in shown.items():
        click.echo(f"{name} = {level}")


async def _change(wish: Wish, found: Mapping[str, Any], session: Session) -> None:
    levels: dict[str, int | None] = dict.fromkeys(_levels(found)) if wish.is_reset else {}
    levels |= {_FIELDS[name]: level for name, level in wish.levels.items()}
    patch = {"spec": {"configuration": {"developerConfiguration": {"logVerbosity": levels}}}}
    metadata = found["metadata"]
    await session.client.patch(
        KUBEVIRTS.raw, metadata["name"], MergePatch(patch), metadata["namespace"]
    )


async def _installation(session: Session) -> Mapping[str, Any]:
    listed = (await session.client.list(KUBEVIRTS.raw)).items
    if not listed:
        raise UserError(f"there is no KubeVirt object on {session.server}", reason="NotFound")
    if len(listed) > 1:
        raise UserError(
            f"there are {len(listed)} KubeVirt objects on {session.server}, and one is what there should be"
        )
    return listed[0]


def _levels(found: Mapping[str, Any]) -> Mapping[str, Any]:
    configuration = found.get("spec", {}).get("configuration", {})
    levels: Mapping[str, Any] = (
        configuration.get("developerConfiguration", {}).get("logVerbosity") or {}
    )
    return levels


def _level(name: str, text: str) -> int:
    if len(text) != 1 or text not in "0123456789":
        raise UserError(f"--{name}={text}: a verbosity is a number from 0 to 9", reason="Usage")
    return int(text)
