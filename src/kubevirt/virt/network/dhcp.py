"""The DHCP server of one guest, as data. How dnsmasq spells it is in `dnsmasq.py`."""

from collections.abc import Sequence
from ipaddress import IPv4Address
from typing import Final

import msgspec

from kubevirt.api.interfaces import DHCPOptions
from kubevirt.virt.errors import SpecError
from kubevirt.virt.network.facts import Route

OPTION_LIMIT: Final = 255
"""Bytes in one DHCP option."""
TFTP_SERVER: Final = 66
BOOT_FILE: Final = 67
PRIVATE: Final = range(224, 255)
LEASE_S: Final = 999 * 24 * 3600
"""Nobody else gets the address, so nobody need renew it."""


class V4Lease(msgspec.Struct, frozen=True, kw_only=True):
    address: str
    prefix_length: int
    server: str
    """Address of the server on the link."""
    router: str | None = None
    routes: tuple[Route, ...] = ()
    """Further routes, with the default route last."""
    nameservers: tuple[str, ...] = ()
    is_foreign: bool = False
    """The server's own address is not in the guest's network."""


class V6Lease(msgspec.Struct, frozen=True, kw_only=True):
    address: str
    prefix_length: int
    nameservers: tuple[str, ...] = ()


class RawOption(msgspec.Struct, frozen=True, kw_only=True):
    """An option whose bytes are the user's."""

    code: int
    value: bytes


class DhcpServer(msgspec.Struct, frozen=True, kw_only=True):
    """Serves one client, known by its MAC address."""

    link: str
    mac: str
    hostname: str
    mtu: int
    v4: V4Lease | None = None
    v6: V6Lease | None = None
    search: tuple[str, ...] = ()
    ntp_servers: tuple[str, ...] = ()
    options: tuple[RawOption, ...] = ()

    @property
    def domain(self) -> str | None:
        """Windows asks for one name and resolves with it: the longest says most."""
        return max(self.search, key=len, default=None)


def ntp_servers(options: DHCPOptions | None) -> tuple[str, ...]:
    servers = options.ntp_servers if options else ()
    if len(servers) > OPTION_LIMIT // 4:
        raise SpecError(f"{len(servers)} NTP servers are given; {OPTION_LIMIT // 4} are the most")
    try:
        return tuple(str(IPv4Address(server)) for server in servers)
    except ValueError:
        raise SpecError("NTP servers must be a list of valid IPv4 addresses.") from None


def raw_options(options: DHCPOptions | None) -> tuple[RawOption, ...]:
    if options is None:
        return ()
    wanted = [
        (TFTP_SERVER, options.tftp_server_name),
        (BOOT_FILE, options.boot_file_name),
        *((private.option, private.value) for private in options.private_options),
    ]
    found = [_raw(code, text) for code, text in wanted if text]
    _check_private(options)
    if len({option.code for option in found}) < len(found):
        raise SpecError("Found Duplicates: you have provided duplicate DHCPPrivateOptions")
    return tuple(found)


def _check_private(options: DHCPOptions) -> None:
    for private in options.private_options:
        if private.option not in PRIVATE:
            raise SpecError(
                "provided DHCPPrivateOptions are out of range, must be in range 224 to 254"
            )


def _raw(code: int, text: str) -> RawOption:
    value = text.encode()
    if len(value) > OPTION_LIMIT:
        raise SpecError(
            f"the value of DHCP option {code} has {len(value)} bytes; {OPTION_LIMIT} are the most"
        )
    return RawOption(code=code, value=value)


def search_list(domains: Sequence[str], subdomain: str | None) -> tuple[str, ...]:
    """The pod's domains; with a subdomain, the guest's own service comes first."""
    found = tuple(domain.lower() for domain in domains)
    services = [domain for domain in found if ".svc." in domain]
    if not subdomain or not services:
        return found
    own = f"{subdomain}.{max(services, key=len)}"
    already = any(domain.startswith(f"{subdomain}.") for domain in services)
    return found if already else (own, *found)
