"""The connections that are open through us: counted, shown as metrics, and not without end."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, Literal

from kubevirt.kube.metrics import Family
from kubevirt.virt.commands.refusal import too_many

MOST: Final = 2000
"""Consoles, screens and ports together: each holds two sockets and a few buffers."""
REMEMBERED: Final = 5000
"""Instances of which the last connection is known."""

Kind = Literal["console", "vnc", "portforward"]
_NAMES: Final[dict[Kind, tuple[str, str]]] = {
    "console": ("kubevirt_console_active_connections", "Consoles that somebody is connected to."),
    "vnc": ("kubevirt_vnc_active_connections", "Screens that somebody is connected to."),
    "portforward": ("kubevirt_portforward_active_tunnels", "Ports that are forwarded."),
}
_LAST: Final = "kubevirt_vmi_last_api_connection_timestamp_seconds"


class Tunnels:
    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._open: Counter[tuple[Kind, str, str]] = Counter()
        self._last: dict[tuple[str, str], float] = {}

    def __len__(self) -> int:
        return self._open.total()

    @contextmanager
    def counted(self, kind: Kind, namespace: str, name: str, now: float) -> Iterator[None]:
        if len(self) >= self._most:
            raise too_many("connections to guests", self._most)
        key = (kind, namespace, name)
        self._open[key] += 1
        self._remember(namespace, name, now)
        try:
            yield
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]

    def _remember(self, namespace: str, name: str, now: float) -> None:
        self._last.pop((namespace, name), None)  # so that the latest is the last
        self._last[namespace, name] = now
        if len(self._last) > REMEMBERED:
            del self._last[next(iter(self._last))]

    def families(self) -> Iterable[Family]:
        for kind, (name, help_) in _NAMES.items():
            yield Family(
                name,
                "gauge",
                help_,
                [
                    ({"namespace": namespace, "vmi": vmi}, float(count))
                    for (of, namespace, vmi), count in self._open.items()
                    if of == kind
                ],
            )
        yield Family(
            _LAST,
            "gauge",
            "When somebody connected to the guest last.",
            [({"namespace": each[0], "vmi": each[1]}, at) for each, at in self._last.items()],
        )
