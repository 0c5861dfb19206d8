"""What is asked of a server, and how long it may take: the values that `transport.py` works on."""

from dataclasses import dataclass, field
from typing import Any

from kubevirt.api.resource import Resource

JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    connect_s: float = 10.0
    """For a connection, TLS included. A server that lives answers in far less."""

    call_s: float = 65.0
    """For a whole call, its second tries included. A server gives up after 60 s and says so; this is
    long enough to hear it."""

    watch_s: int = 300
    """How long a watch runs when its caller does not say; up to twice that, so that the watches of
    many clients do not all end at once."""

    watch_grace_s: float = 30.0
    """How long after its time the server has to close a watch before we do."""

    tries: int = 5
    """How often one call is made at most when the server keeps putting it off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    path: str
    params: tuple[tuple[str, str], ...] = ()
    body: bytes | None = field(default=None, repr=False)
    content_type: str = JSON
    accept: str = JSON
    resource: Resource[Any] | None = None
    """What the path is about, for messages."""

    subresource: str = ""
    may_wait: bool = True
    """Make it again when the server puts it off. An eviction is not: there, 429 is an answer."""

    @property
    def what(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def is_watch(self) -> bool:
        return ("watch", "true") in self.params
