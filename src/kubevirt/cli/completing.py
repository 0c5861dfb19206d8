"""Completion that asks the server: names of machines, instances and namespaces, while a word is being typed.

A person waits for it, so it has little time, and says nothing when it fails: no names are better than an
error in the middle of a line.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

LIMIT_S: Final = 3.0
NAMES_LIMIT: Final = 500
FILE: Final = "file"
"""What click and shells call a word that is one."""
EXPOSED: Final = {
    **dict.fromkeys(("vm", "vms"), "virtualmachines"),
    **dict.fromkeys(("vmi", "vmis"), "virtualmachineinstances"),
    **dict.fromkeys(("vmirs", "vmirss"), "virtualmachineinstancereplicasets"),
}


def machines(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    """Of VirtualMachines, bare or behind `vm/`."""
    del param
    return _matching(typed, _names(ctx, "virtualmachines"))


def instances(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    del param
    return _matching(typed, _names(ctx, "virtualmachineinstances"))


def of_either(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    """`vm/NAME` and `vmi/NAME`; before a slash is typed, the two kinds."""
    del param
    user, at, rest = typed.rpartition("@")
    kind, slash, _ = rest.partition("/")
    if not slash:
        return [f"{user}{at}{each}/" for each in ("vm", "vmi") if each.startswith(kind)]
    plural = "virtualmachines" if kind in ("vm", "vms") else "virtualmachineinstances"
    return [f"{user}{at}{each}" for each in _matching(rest, _names(ctx, plural))]


def side_of_a_copy(
    ctx: click.Context, param: click.Parameter, typed: str
) -> list["CompletionItem"]:
    """`vm/NAME:` for a guest; or a file of this machine, which the shell knows."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415  # loads a lot

    if ":" in typed:  # what is in a guest, nobody here knows
        return []
    found = of_either(ctx, param, typed)
    guests = [each if each.endswith("/") else f"{each}:" for each in found]
    return [*map(CompletionItem, guests), CompletionItem(typed, type=FILE)]


def exposed(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    """Of the kind that was named before."""
    del param
    plural = EXPOSED.get(ctx.params.get("kind") or "")
    return _matching(typed, _names(ctx, plural)) if plural else []


def exposed_kinds(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    del ctx, param
    return [each for each in ("vm", "vmi", "vmirs") if each.startswith(typed)]


def words(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    """`vm NAME`: first the kind, then the name."""
    given = [each for each in ctx.params.get(param.name or "", ()) or () if each]
    if not given:
        return [each for each in ("vm", "vmi") if each.startswith(typed)]
    plural = "virtualmachines" if given[0] in ("vm", "vms") else "virtualmachineinstances"
    return _matching(typed, _names(ctx, plural))


def namespaces(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    del param
    return _matching(typed, _asked(ctx, "/api/v1/namespaces", in_namespace=False))


def contexts(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    del param
    with suppress(Exception):
        return _matching(typed, _contexts(ctx))
    return []


def _contexts(ctx: click.Context) -> list[str]:
    import os  # noqa: PLC0415  # nobody who does not complete needs any of this
    from pathlib import Path  # noqa: PLC0415

    from kubevirt.cli import access  # noqa: PLC0415
    from kubevirt.kube.access import kubeconfig, kubeconfig_file  # noqa: PLC0415

    given = access.of(ctx, os.environ)
    paths = [given.kubeconfig] if given.kubeconfig else kubeconfig.default_paths(os.environ)
    found = kubeconfig_file.read([Path(path) for path in paths if Path(path).exists()])
    return sorted(found.contexts)


def _names(ctx: click.Context, plural: str) -> list[str]:
    return _asked(ctx, plural, in_namespace=True)


def _matching(typed: str, names: list[str]) -> list[str]:
    prefix, slash, begun = typed.rpartition("/")
    return [prefix + slash + name for name in names if name.startswith(begun)]


def _asked(ctx: click.Context, where: str, *, in_namespace: bool) -> list[str]:
    with suppress(Exception):
        import asyncio  # noqa: PLC0415
        import os  # noqa: PLC0415

        from kubevirt.cli import access  # noqa: PLC0415

        return asyncio.run(_listed(access.of(ctx, os.environ), where, in_namespace=in_namespace))
    return []


async def _listed(given: Any, where: str, *, in_namespace: bool) -> list[str]:
    import asyncio  # noqa: PLC0415
    import json  # noqa: PLC0415
    import os  # noqa: PLC0415

    from kubevirt.kube.client import Client  # noqa: PLC0415

    config = given.config(os.environ)
    path = f"/apis/kubevirt.io/v1/namespaces/{config.namespace}/{where}" if in_namespace else where
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
    async with asyncio.timeout(LIMIT_S), Client(config) as client:
        answer = await client.raw("GET", path, params={"limit": NAMES_LIMIT}, accept=accept)
    return list(_sorted_names(json.loads(answer)))


def _sorted_names(listed: Any) -> Iterator[str]:
    yield from sorted(str(each["metadata"]["name"]) for each in listed["items"])
