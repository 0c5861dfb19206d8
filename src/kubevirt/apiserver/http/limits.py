"""How much of everything the server takes on. All of it is bounded: a server that takes what it is sent
ends with whoever sends the most.
"""

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    request_s: float = 60.0
    """How long a request may take that is no watch or other stream, its body included; kube-apiserver's."""
    requests: int = 600
    """Requests under way at once, of all users together; kube-apiserver's."""
    requests_of_user: int = 100
    """Of one user. A controller with its workers has a few dozen."""
    requests_of_masters: int = 400
    """Of one administrator, also when the rest is taken."""
    watches: int = 10_000
    """Watches and other streams at once, of all users together: about 25 kB each."""
    watches_of_user: int = 5_000

    connections: int = 20_000
    """At once. A watch has one of its own over HTTP/1.1."""
    connections_of_peer: int = 10_000
    """From one address. On one machine all come from the same."""
    handshake_s: float = 10.0
    """Until TLS is agreed on."""
    idle_s: float = 90.0
    """Of a connection, until the whole head of its next request is there; kube-apiserver's for idle ones."""
    stalled_s: float = 30.0
    """How long a peer may take nothing of what is sent to it before it is cut."""

    line_bytes: int = 64 << 10
    """Of a request line and of each header: selectors can be long."""
    headers: int = 256
    body_bytes: int = 3 << 20
    """etcd's users know it."""
    bodies_bytes: int = 128 << 20
    """Of all bodies that are being read or worked on."""
    small_body_bytes: int = 64 << 10
    """Below this a body is not counted: there are not more of them than requests."""
