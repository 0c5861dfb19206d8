"""What of a request goes on to a callee, and what of its answer comes back.

Whoever asks cannot say who they are in our place, nor does a callee learn by what they proved it to us.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from kubevirt.apiserver.auth.front_proxy import FrontProxySettings, headers_for
from kubevirt.apiserver.registry.identity import Identity

Pairs = Iterable[tuple[str, str]]

_OF_THE_HOP: Final = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",  # codespell:ignore te
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)
_OURS: Final = frozenset(("audit-id", "authorization", "expect", "host"))
_CROSS_ORIGIN: Final = frozenset(
    f"access-control-allow-{each}" for each in ("credentials", "headers", "methods", "origin")
)
_IDENTITY: Final = FrontProxySettings()
_NAMES_OF_IDENTITY: Final = tuple(
    each.lower() for each in (_IDENTITY.user_header, _IDENTITY.uid_header, _IDENTITY.group_header)
)
_PREFIXES: Final = (_IDENTITY.extra_prefix.lower(), "impersonate-", "sec-websocket-")
"""Of who somebody is or wants to be, and of a handshake that is made anew."""
_WEBSOCKET_TOKEN: Final = "base64url.bearer.authorization.k8s.io."  # noqa: S105  # the name of a protocol


def onward(said: Pairs, identity: Identity, peer: str) -> Iterator[tuple[str, str]]:
    """For the callee. `peer` is the address that the request came from."""
    said = list(said)
    dropped = _OF_THE_HOP | _OURS | _named_by_connection(said)
    places = []
    for name, value in said:
        lower = name.lower()
        if lower == "x-forwarded-for":
            places.append(value)
        elif lower not in dropped and not _is_handled_here(lower):
            yield name, value
    if peer:
        places.append(peer)
    if places:
        yield "X-Forwarded-For", ", ".join(places)
    yield from headers_for(identity, _IDENTITY)


def _is_handled_here(name: str) -> bool:
    return name in _NAMES_OF_IDENTITY or name.startswith(_PREFIXES)


def back(said: Pairs) -> Iterator[tuple[str, str]]:
    """For whoever asked. Nobody keeps an answer whose callee does not say that they may."""
    said = list(said)
    dropped = _OF_THE_HOP | _CROSS_ORIGIN | _named_by_connection(said) | {"audit-id"}
    for name, value in said:
        if name.lower() not in dropped:
            yield name, value
    if not any(name.lower() == "cache-control" for name, _ in said):
        yield "Cache-Control", "no-cache, private"


def _named_by_connection(said: Pairs) -> set[str]:
    return {
        part.strip().lower()
        for name, value in said
        if name.lower() == "connection"
        for part in value.split(",")
    }


def upgrade(said: Pairs) -> str:
    """The protocol that somebody wants to change to, in lower case; empty if they do not."""
    said = list(said)
    if "upgrade" not in _named_by_connection(said):
        return ""
    return next((value.lower() for name, value in said if name.lower() == "upgrade"), "?")


def protocols(said: Pairs) -> list[str]:
    """Of a websocket, without the token that some browsers have to show as one."""
    return [
        part.strip()
        for name, value in said
        if name.lower() == "sec-websocket-protocol"
        for part in value.split(",")
        if part.strip() and not part.strip().startswith(_WEBSOCKET_TOKEN)
    ]
