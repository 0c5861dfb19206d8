"""Liveness and readiness of a guest."""

from kubevirt.api.core.probes import ExecAction, HTTPGetAction, TCPSocketAction
from kubevirt.api.struct import Int32, Struct


class GuestAgentPing(Struct, frozen=True, kw_only=True):
    """…"""


class Probe(Struct, frozen=True, kw_only=True):
    """…"""

    exec: ExecAction | None = None
    failure_threshold: Int32 | None = None
    guest_agent_ping: GuestAgentPing | None = None
    http_get: HTTPGetAction | None = None
    initial_delay_seconds: Int32 | None = None
    period_seconds: Int32 | None = None
    success_threshold: Int32 | None = None
    tcp_socket: TCPSocketAction | None = None
    timeout_seconds: Int32 | None = None
