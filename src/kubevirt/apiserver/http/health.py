"""How the server is: whether it lives, whether it is ready, and each thing that was looked at.

    /readyz            ok
    /readyz?verbose    [+]ping ok …
    /readyz/etcd       ok, or why not

The first two are for everybody and give no reasons, so that strangers learn none.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from aiohttp import web

from kubevirt.apiserver.schema.gotext import quoted
from kubevirt.apiserver.storage.store import Store

STORE: Final = "etcd"
"""The store, by the name under which probes know it."""
_ALIVE: Final = ("ping",)
_CHECKS: Final[Mapping[str, Sequence[str]]] = {
    "healthz": (*_ALIVE, STORE),
    "livez": _ALIVE,
    "readyz": (*_ALIVE, STORE),
}
_PLAIN: Final = {"X-Content-Type-Options": "nosniff"}


def answer(store: Store, path: str, request: web.BaseRequest) -> web.Response | None:
    """None for a path that is none of these."""
    _, _, path = path.partition("/")
    name, _, check = path.partition("/")
    checks = _CHECKS.get(name, ())
    if path in _CHECKS:
        return _summary(store, name, request)
    return _detail(store, check) if check in checks else None


def _trouble(store: Store, check: str) -> str:
    failure = store.failure if check == STORE else None
    return str(failure) if failure else ""


def _detail(store: Store, check: str) -> web.Response:
    if trouble := _trouble(store, check):
        text = f"internal server error: {trouble}\n"
        return web.Response(status=500, text=text, headers=_PLAIN)
    return web.Response(text="ok")


def _summary(store: Store, name: str, request: web.BaseRequest) -> web.Response:
    query = request.rel_url.query
    excluded = set(query.getall("exclude", ()))
    lines = []
    is_well = True
    for check in _CHECKS[name]:
        if check in excluded:
            lines.append(f"[+]{check} excluded: ok")
        elif _trouble(store, check):
            lines.append(f"[-]{check} failed: reason withheld")
            is_well = False
        else:
            lines.append(f"[+]{check} ok")
    if unknown := sorted(excluded.difference(_CHECKS[name])):
        shown = ",".join(map(quoted, unknown))
        lines.append(f"warn: some health checks cannot be excluded: no matches for {shown}")
    lines.append(f"{name} check {'passed' if is_well else 'failed'}")
    is_told = not is_well or "verbose" in query
    text = "\n".join([*lines, ""]) if is_told else "ok"
    return web.Response(status=200 if is_well else 500, text=text, headers=_PLAIN)
