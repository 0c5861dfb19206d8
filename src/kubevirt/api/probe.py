"""Liveness and readiness of a guest."""

from kubevirt.api.core.probes import ExecAction, HTTPGetAction, TCPSocketAction
from kubevirt.api.struct import Int32, Struct


class GuestAgentPing(Struct, frozen=True, kw_only=True):
    """Asks the guest agent for a sign of life; has no settings."""


class Probe(Struct, frozen=True, kw_only=True):
    """Periodic check of the guest by exactly one method."""

    exec: ExecAction | None = None
    """Runs a command in the guest by its agent; exit code 0 is success."""
    failure_threshold: Int32 | None = None
    """Failures in a row that count as failed; 3 by default."""
    guest_agent_ping: GuestAgentPing | None = None
    """Succeeds while the guest agent answers."""
    http_get: HTTPGetAction | None = None
    """HTTP request to the guest; needs the pod network."""
    initial_delay_seconds: Int32 | None = None
    """Seconds from start to the first check; 0 by default."""
    period_seconds: Int32 | None = None
    """Seconds between checks; 10 by default."""
    success_threshold: Int32 | None = None
    """Successes in a row that count as recovered; 1 by default, and always for liveness."""
    tcp_socket: TCPSocketAction | None = None
    """TCP connection to the guest; needs the pod network."""
    timeout_seconds: Int32 | None = None
    """Seconds to wait for an answer; 1 by default. A command in the guest is not killed then."""
