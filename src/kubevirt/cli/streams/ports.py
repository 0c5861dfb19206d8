"""Ports to forward, as people write them: `8080`, `8080:80`, `udp/5353:53`."""

import re
from dataclasses import dataclass
from typing import Final

from kubevirt.base.errors import UserError

_FORM: Final = re.compile(
    r"(?:(?P<protocol>[A-Za-z]+)/)?(?P<local>\d{1,5})(?::(?P<target>\d{1,5}))?"
)
_LIMIT: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    protocol: str = "tcp"
    local: int
    """0 takes one that is free."""
    target: int


def parse(text: str) -> Port:
    found = _FORM.fullmatch(text)
    if found is None:
        raise UserError(
            f"{text!r} is no port to forward; write [PROTOCOL/]LOCAL[:TARGET], such as tcp/8080:80",
            reason="Usage",
        )
    protocol = (found["protocol"] or "tcp").lower()
    if protocol not in ("tcp", "udp"):
        raise UserError(
            f"{protocol} cannot be forwarded; the protocol of {text!r} is tcp or udp",
            reason="Usage",
        )
    local, target = int(found["local"]), int(found["target"] or found["local"])
    if local >= _LIMIT or not 0 < target < _LIMIT:
        raise UserError(f"{text!r} has a port that is none; they go up to 65535", reason="Usage")
    return Port(protocol=protocol, local=local, target=target)
