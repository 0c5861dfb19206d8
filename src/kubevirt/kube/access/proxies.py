"""The proxy that the environment asks for: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, as kubectl reads
them. A server on this machine is never asked through one.
"""

import ipaddress
from collections.abc import Mapping

from yarl import URL

from kubevirt.base.errors import ConfigError
from kubevirt.kube.access import addresses


def proxy_for(server: str, env: Mapping[str, str]) -> str:
    """The proxy on the way to `server`; empty for none."""
    name = f"{URL(server).scheme.upper()}_PROXY"
    proxy = _variable(env, name)
    if not proxy or _is_bypassed(URL(server), _variable(env, "NO_PROXY")):
        return ""
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    if flaw := addresses.flaw_of_proxy(proxy):
        raise ConfigError(f"the variable {name} {flaw}; correct or unset it")
    return proxy


def _variable(env: Mapping[str, str], name: str) -> str:
    return env.get(name) or env.get(name.lower()) or ""


def _is_bypassed(server: URL, no_proxy: str) -> bool:
    host, port = server.host or "", server.port
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    entries = (entry.strip().lower() for entry in no_proxy.split(","))
    return any(_covers(entry, host, port, address) for entry in entries if entry)


def _covers(
    entry: str,
    host: str,
    port: int | None,
    address: ipaddress.IPv4Address | ipaddress.IPv6Address | None,
) -> bool:
    if entry == "*":
        return True
    if address is not None:
        try:
            return address in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            pass  # a name, or an address with a port
    name, _, named_port = entry.partition(":")
    if named_port and named_port != str(port):
        return False
    suffix = name.removeprefix("*")
    return host == suffix or host.endswith(suffix if suffix.startswith(".") else f".{suffix}")


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
