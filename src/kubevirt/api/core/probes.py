"""How a container is asked whether it lives."""

from typing import Annotated

from kubevirt.api.struct import ATOMIC, Int32, Int64, IntOrString, Struct


class ExecAction(Struct, frozen=True, kw_only=True):
    """…"""

    command: Annotated[tuple[str, ...], ATOMIC] = ()


class HTTPHeader(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    value: str


class HTTPGetAction(Struct, frozen=True, kw_only=True):
    """…"""

    host: str | None = None
    http_headers: Annotated[tuple[HTTPHeader, ...], ATOMIC] = ()
    path: str | None = None
    port: IntOrString
    scheme: str | None = None


class TCPSocketAction(Struct, frozen=True, kw_only=True):
    """…"""

    host: str | None = None
    port: IntOrString


class GRPCAction(Struct, frozen=True, kw_only=True):
    """…"""

    port: Int32
    service: str | None = None


class Probe(Struct, frozen=True, kw_only=True):
    """…"""

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
