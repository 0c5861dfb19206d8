"""How a container is asked whether it lives."""

from typing import Annotated

from kubevirt.api.struct import ATOMIC, Int32, Int64, IntOrString, Struct


class ExecAction(Struct, frozen=True, kw_only=True):
    """Runs a command."""

    command: Annotated[tuple[str, ...], ATOMIC] = ()
    """Program and arguments, without a shell; exit code 0 means healthy."""


class HTTPHeader(Struct, frozen=True, kw_only=True):
    """Header of a request."""

    name: str
    """Header name."""
    value: str
    """Header value."""


class HTTPGetAction(Struct, frozen=True, kw_only=True):
    """Sends an HTTP GET; answers from 200 to 399 mean healthy."""

    host: str | None = None
    """Host to ask; the pod's address if not set."""
    http_headers: Annotated[tuple[HTTPHeader, ...], ATOMIC] = ()
    """Headers to send."""
    path: str | None = None
    """Path on the server; / if not set."""
    port: IntOrString
    """Port number or name."""
    scheme: str | None = None
    """HTTP (default) or HTTPS, whose certificate is not verified."""


class TCPSocketAction(Struct, frozen=True, kw_only=True):
    """Opens a TCP connection, and is healthy if that works."""

    host: str | None = None
    """Host to connect to; the pod's address if not set."""
    port: IntOrString
    """Port number or name."""


class GRPCAction(Struct, frozen=True, kw_only=True):
    """Asks the gRPC health service."""

    port: Int32
    service: str | None = None


class Probe(Struct, frozen=True, kw_only=True):
    """Periodic check of a container by one method."""

    exec: ExecAction | None = None
    failure_threshold: Int32 | None = None
    grpc: GRPCAction | None = None
    http_get: HTTPGetAction | None = None
    initial_delay_seconds: Int32 | None = None
    period_seconds: Int32 | None = None
    success_threshold: Int32 | None = None
    tcp_socket: TCPSocketAction | None = None
    termination_grace_period_seconds: Int64 | None = None
    timeout_seconds: Int32 | None = None
