"""How much a program logs: its flag, unless the KubeVirt object says something else."""

from collections.abc import Callable
from typing import Final

from kubevirt.api.configuration import KubeVirtConfiguration, LogVerbosity
from kubevirt.base import log

_FIELDS: Final = {
    "virt-api": "virt_api",
    "virt-controller": "virt_controller",
    "virt-handler": "virt_handler",
    "virt-operator": "virt_operator",
}

_log = log.get_logger(__name__)


def of(program: str, configuration: KubeVirtConfiguration, default: int, *, node: str = "") -> int:
    """A node's own level is for the virt-handler there, and counts before that of all handlers."""
    developer = configuration.developer_configuration
    levels = (developer and developer.log_verbosity) or LogVerbosity()
    if program == "virt-handler" and node in levels.node_verbosity:
        return levels.node_verbosity[node]
    level: int | None = getattr(levels, _FIELDS.get(program, ""), None)
    return default if level is None else level


def follow(level: int, set_verbosity: Callable[[int], None]) -> None:
    """Whoever asked for more sees by one line that it has begun."""
    set_verbosity(level)
    _log.debug("verbosity", now=level)
