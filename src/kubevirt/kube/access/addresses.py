"""Addresses that people write: checked once, where they come in, so that no request stumbles later."""

import ipaddress

from yarl import URL

SCHEMES = ("http", "https")


def flaw_of_server(text: str) -> str:
    """Why this is no address of an API server, as the end of a sentence; empty when it is one."""
    url = _parsed(text)
    if url is None:
        return "is not of the form https://HOST:PORT"
    if url.user is not None or url.password is not None:
        return "holds a user or a password; write them in the user's entry"
    if url.query_string or url.fragment:
        return "has a ? or # in it"
    return ""


def flaw_of_proxy(text: str) -> str:
    if _parsed(text) is None:
        return "is not of the form http://HOST:PORT; only HTTP proxies are supported"
    return ""


def flaw_of_name(text: str) -> str:
    return "" if _is_host(text) else "is no name of a host"


def _parsed(text: str) -> URL | None:
    try:
        url = URL(text)
        usable = url.scheme in SCHEMES and url.port is not None and _is_host(url.host or "")
    except ValueError:
        return None
    return url if usable else None


def _is_host(text: str) -> bool:
    """What the resolver will take: it raises on names that cannot be written in DNS."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        try:
            return bool(text.encode("idna")) and text.isprintable() and " " not in text
        except UnicodeError:
            return False
    return True
