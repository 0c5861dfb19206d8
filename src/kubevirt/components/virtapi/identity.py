"""Who asks. A front proxy says it in headers, and is believed if it is one.

At the port that is whoever shows a certificate of the front proxy's authority with one of its names; at the
private socket it is everybody, since nobody else can come there. Anybody else may say what they like: they are
nobody, and whatever needs an identity is refused.
"""

from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import unquote

import msgspec
from aiohttp import web

from kubevirt.virt.commands.refusal import not_authenticated


class FrontProxy(msgspec.Struct, frozen=True, kw_only=True):
    """As the API server publishes itself to those it asks."""

    names: tuple[str, ...] = ()
    """Common names of its certificate; none means any that its authority has signed."""
    user_headers: tuple[str, ...] = ("X-Remote-User",)
    uid_headers: tuple[str, ...] = ("X-Remote-Uid",)
    group_headers: tuple[str, ...] = ("X-Remote-Group",)
    extra_prefixes: tuple[str, ...] = ("X-Remote-Extra-",)


DEFAULT: Final = FrontProxy()


class Asker(msgspec.Struct, frozen=True, kw_only=True):
    user: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = {}


def asker(request: web.BaseRequest, proxy: FrontProxy | None) -> Asker:
    """`proxy` is None where no front proxy is known yet: then nobody is believed."""
    if proxy is None or not _is_from(request, proxy):
        raise not_authenticated("request is not authenticated")
    user = next(iter(_values(request, proxy.user_headers)), "")
    if not user:
        raise not_authenticated("request is not authenticated")
    return Asker(
        user=user,
        uid=next(iter(_values(request, proxy.uid_headers)), ""),
        groups=tuple(each for each in _values(request, proxy.group_headers) if each),
        extra=_extra(request, proxy.extra_prefixes),
    )


def _values(request: web.BaseRequest, names: Iterable[str]) -> list[str]:
    """Of the first header that is there."""
    for name in names:
        if found := request.headers.getall(name, []):
            return found
    return []


def _extra(request: web.BaseRequest, prefixes: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, value in request.headers.items():
        lower = name.lower()
        prefix = next((each for each in prefixes if lower.startswith(each.lower())), None)
        if prefix:
            key = unquote(lower[len(prefix) :])
            found[key] = (*found.get(key, ()), value)
    return found


def _is_from(request: web.BaseRequest, proxy: FrontProxy) -> bool:
    transport = request.transport
    if transport is None:
        return False
    tls = transport.get_extra_info("ssl_object")
    if tls is None:
        return _is_private(transport.get_extra_info("sockname"))
    shown = tls.getpeercert()  # empty unless our authority for front proxies signed it
    if not shown:
        return False
    names = [
        value for part in shown.get("subject", ()) for key, value in part if key == "commonName"
    ]
    return not proxy.names or any(each in proxy.names for each in names)


def _is_private(name: object) -> bool:
    """Whether it came to the unix socket. A port without TLS is for one's own eyes, and trusts nobody."""
    return isinstance(name, str) and bool(name)
