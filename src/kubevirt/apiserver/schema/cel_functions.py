"""Functions that Kubernetes adds to CEL: lists, sets, regular expressions, quantities, URLs, addresses.

A quantity, a URL, an address is a map with one field here, since the runtime takes no types of ours.
Rules cannot tell: they only hand it on to these functions, or compare it.
"""

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_interface, ip_network
from typing import Any, Final
from urllib.parse import SplitResult, parse_qs, urlsplit

from msgspec import Struct

from kubevirt.apiserver.schema import cel_patterns
from kubevirt.base.errors import QuantityError
from kubevirt.base.quantity import Quantity

Address = IPv4Address | IPv6Address


class Function(Struct, frozen=True):
    name: str
    parameters: tuple[str, ...]
    returns: str
    run: Callable[..., Any]
    is_member: bool = True


def _quantity(text: str) -> dict[str, Any]:
    return {"quantity": str(Quantity.parse(text).nanos)}


def _nanos(quantity: dict[str, Any]) -> int:
    return int(quantity["quantity"])


def _from_nanos(nanos: int) -> dict[str, Any]:
    return {"quantity": str(nanos)}


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True


def _as_integer(quantity: dict[str, Any]) -> int:
    whole, rest = divmod(_nanos(quantity), 10**9)
    if rest or not -(2**63) <= whole < 2**63:
        raise ValueError("cannot convert value to integer")
    return whole


def _is_integer(quantity: dict[str, Any]) -> bool:
    whole, rest = divmod(_nanos(quantity), 10**9)
    return not rest and -(2**63) <= whole < 2**63


def _compare(one: int, other: int) -> int:
    return (one > other) - (one < other)


_ONE: Final = 10**9

_QUANTITIES: Final = (
    Function("quantity", ("string",), "map", _quantity, is_member=False),
    Function("isQuantity", ("string",), "bool", _is_quantity, is_member=False),
    Function("sign", ("map",), "int", lambda q: _compare(_nanos(q), 0)),
    Function("isInteger", ("map",), "bool", _is_integer),
    Function("asInteger", ("map",), "int", _as_integer),
    Function("asApproximateFloat", ("map",), "double", lambda q: _nanos(q) / _ONE),
    Function("add", ("map", "map"), "map", lambda a, b: _from_nanos(_nanos(a) + _nanos(b))),
    Function("add", ("map", "int"), "map", lambda a, b: _from_nanos(_nanos(a) + b * _ONE)),
    Function("sub", ("map", "map"), "map", lambda a, b: _from_nanos(_nanos(a) - _nanos(b))),
    Function("sub", ("map", "int"), "map", lambda a, b: _from_nanos(_nanos(a) - b * _ONE)),
    Function("isLessThan", ("map", "map"), "bool", lambda a, b: _nanos(a) < _nanos(b)),
    Function("isGreaterThan", ("map", "map"), "bool", lambda a, b: _nanos(a) > _nanos(b)),
    Function("compareTo", ("map", "map"), "int", lambda a, b: _compare(_nanos(a), _nanos(b))),
)


def _some(items: list[Any], choose: Callable[[list[Any]], Any], name: str) -> Any:
    if not items:
        raise ValueError(f"{name} called on empty list")
    return choose(items)


def _last_index(items: list[Any], item: Any) -> int:
    return len(items) - 1 - items[::-1].index(item) if item in items else -1


_LISTS: Final = (
    Function("isSorted", ("list",), "bool", lambda items: all(map(_le, items, items[1:]))),
    Function("sum", ("list",), "dyn", sum),
    Function("min", ("list",), "dyn", lambda items: _some(items, min, "min")),
    Function("max", ("list",), "dyn", lambda items: _some(items, max, "max")),
    *(
        function
        for kind in ("string", "int", "double", "bool", "map", "list")
        for function in (
            Function(
                "indexOf",
                ("list", kind),
                "int",
                lambda items, item: items.index(item) if item in items else -1,
            ),
            Function("lastIndexOf", ("list", kind), "int", _last_index),
        )
    ),
)


def _le(one: Any, other: Any) -> bool:
    return bool(one <= other)


_SETS: Final = (
    Function(
        "sets.contains",
        ("list", "list"),
        "bool",
        lambda items, wanted: all(item in items for item in wanted),
        is_member=False,
    ),
    Function(
        "sets.intersects",
        ("list", "list"),
        "bool",
        lambda one, other: any(item in other for item in one),
        is_member=False,
    ),
    Function(
        "sets.equivalent",
        ("list", "list"),
        "bool",
        lambda a, b: all(item in b for item in a) and all(item in a for item in b),
        is_member=False,
    ),
)


def _find(text: str, pattern: str) -> str:
    return next(iter(cel_patterns.found(text, pattern)), "")


_EXPRESSIONS: Final = (
    Function("find", ("string", "string"), "string", _find),
    Function("findAll", ("string", "string"), "list", cel_patterns.found),
    Function(
        "findAll",
        ("string", "string", "int"),
        "list",
        lambda text, pattern, limit: cel_patterns.found(text, pattern)[
            : limit if limit >= 0 else None
        ],
    ),
)


def _parsed_url(text: str) -> SplitResult:
    parts = urlsplit(text)
    if not text or not (parts.scheme or text.startswith("/")):
        raise ValueError(f"URL parse error during conversion from string: {text}")
    _ = parts.port
    return parts


def _is_url(text: str) -> bool:
    try:
        _parsed_url(text)
    except ValueError:
        return False
    return True


def _url(text: str) -> dict[str, Any]:
    _parsed_url(text)
    return {"url": text}


def _host(url: dict[str, Any]) -> str:
    return str(urlsplit(url["url"]).netloc).rpartition("@")[2]


def _host_name(url: dict[str, Any]) -> str:
    host = _host(url)
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _port(url: dict[str, Any]) -> str:
    port = urlsplit(url["url"]).port
    return "" if port is None else str(port)


_URLS: Final = (
    Function("url", ("string",), "map", _url, is_member=False),
    Function("isURL", ("string",), "bool", _is_url, is_member=False),
    Function("getScheme", ("map",), "string", lambda url: urlsplit(url["url"]).scheme),
    Function("getHost", ("map",), "string", _host),
    Function("getHostname", ("map",), "string", _host_name),
    Function("getPort", ("map",), "string", _port),
    Function("getEscapedPath", ("map",), "string", lambda url: urlsplit(url["url"]).path),
    Function("getQuery", ("map",), "map", lambda url: parse_qs(urlsplit(url["url"]).query)),
)


def _parsed_ip(text: str) -> Address:
    address = ip_address(text)
    if "%" in text or (isinstance(address, IPv6Address) and address.ipv4_mapped):
        raise ValueError(f"IP Address {text!r} parse error during conversion from string")
    return address


def _is_ip(text: str) -> bool:
    try:
        _parsed_ip(text)
    except ValueError:
        return False
    return True


def _ip(text: str) -> dict[str, Any]:
    return {"ip": str(_parsed_ip(text))}


def _address(ip: dict[str, Any]) -> Address:
    return ip_address(ip["ip"])


def _is_global_unicast(ip: dict[str, Any]) -> bool:
    address = _address(ip)
    others = (address.is_unspecified, address.is_loopback, address.is_multicast)
    return not any(others) and not address.is_link_local and ip["ip"] != "255.255.255.255"


def _is_link_local_multicast(ip: dict[str, Any]) -> bool:
    address = _address(ip)
    local = "224.0.0.0/24" if address.version == 4 else "ff02::/16"
    return address in ip_network(local)


_ADDRESSES: Final = (
    Function("ip", ("string",), "map", _ip, is_member=False),
    Function("isIP", ("string",), "bool", _is_ip, is_member=False),
    Function(
        "ip.isCanonical",
        ("string",),
        "bool",
        lambda text: str(_parsed_ip(text)) == text,
        is_member=False,
    ),
    Function("family", ("map",), "int", lambda ip: _address(ip).version),
    Function("isUnspecified", ("map",), "bool", lambda ip: _address(ip).is_unspecified),
    Function("isLoopback", ("map",), "bool", lambda ip: _address(ip).is_loopback),
    Function("isLinkLocalMulticast", ("map",), "bool", _is_link_local_multicast),
    Function(
        "isLinkLocalUnicast",
        ("map",),
        "bool",
        lambda ip: _address(ip).is_link_local and not _address(ip).is_multicast,
    ),
    Function("isGlobalUnicast", ("map",), "bool", _is_global_unicast),
)


def _is_cidr(text: str) -> bool:
    try:
        _cidr(text)
    except ValueError:
        return False
    return True


def _cidr(text: str) -> dict[str, Any]:
    if not re.fullmatch(r"[^/]+/\d+", text):
        raise ValueError("network address parse error during conversion from string")
    return {"cidr": str(ip_interface(text))}


def _contains(cidr: dict[str, Any], address: str) -> bool:
    return _parsed_ip(address) in ip_interface(cidr["cidr"]).network


def _contains_cidr(cidr: dict[str, Any], other: str) -> bool:
    outer, inner = ip_interface(cidr["cidr"]).network, ip_interface(other).network
    if outer.version != inner.version:
        return False
    return outer.prefixlen <= inner.prefixlen and inner.network_address in outer


_NETWORKS: Final = (
    Function("cidr", ("string",), "map", _cidr, is_member=False),
    Function("isCIDR", ("string",), "bool", _is_cidr, is_member=False),
    Function("containsIP", ("map", "string"), "bool", _contains),
    Function("containsIP", ("map", "map"), "bool", lambda c, ip: _contains(c, ip["ip"])),
    Function("containsCIDR", ("map", "string"), "bool", _contains_cidr),
    Function("containsCIDR", ("map", "map"), "bool", lambda c, o: _contains_cidr(c, o["cidr"])),
    Function("ip", ("map",), "map", lambda cidr: {"ip": cidr["cidr"].partition("/")[0]}),
    Function("masked", ("map",), "map", lambda c: {"cidr": str(ip_interface(c["cidr"]).network)}),
    Function("prefixLength", ("map",), "int", lambda c: ip_interface(c["cidr"]).network.prefixlen),
)

FUNCTIONS: Final[tuple[Function, ...]] = (
    *_QUANTITIES,
    *_LISTS,
    *_SETS,
    *_EXPRESSIONS,
    *_URLS,
    *_ADDRESSES,
    *_NETWORKS,
)
