"""resolv.conf: whom a pod asks for names."""

from contextlib import suppress
from ipaddress import ip_address

import msgspec


class Resolver(msgspec.Struct, frozen=True, kw_only=True):
    nameservers: tuple[str, ...] = ()
    search_domains: tuple[str, ...] = ()

    @property
    def is_reachable(self) -> bool:
        """From another namespace: a server on our loopback is not."""
        return any(not ip_address(each).is_loopback for each in self.nameservers)

    def without_loopback(self) -> "Resolver":
        reachable = [each for each in self.nameservers if not ip_address(each).is_loopback]
        return msgspec.structs.replace(self, nameservers=tuple(reachable))


def parse(text: str) -> Resolver:
    """As libc reads it: the last `search` or `domain` counts, and what it cannot read it skips."""
    nameservers: list[str] = []
    domains: list[str] = []
    for line in text.splitlines():
        match line.split():
            case ["nameserver", server, *_]:
                with suppress(ValueError):
                    nameservers.append(str(ip_address(server.partition("%")[0])))
            case ["search" | "domain", *names]:
                domains = names
    return Resolver(nameservers=tuple(nameservers), search_domains=tuple(domains))


def options(text: str) -> tuple[str, ...]:
    """How it is asked, of all lines that say so."""
    words = [line.split() for line in text.splitlines()]
    return tuple(word for line in words if line[:1] == ["options"] for word in line[1:])
