"""Variables that tell a container where services are; Docker's names for links among them."""

from collections.abc import Iterable, Iterator

from kubevirt.api.core.service import Service

_MASTER = ("default", "kubernetes")
"""Told to every pod, whether it wants links or not: clients find the API server by it."""


def variables(services: Iterable[Service], namespace: str, *, has_links: bool) -> dict[str, str]:
    """For a pod of that namespace."""
    found: dict[str, str] = {}
    for service in services:
        place = (service.metadata.namespace, service.metadata.name)
        if place == _MASTER or (has_links and place[0] == namespace):
            found.update(_of(service))
    return found


def _of(service: Service) -> Iterator[tuple[str, str]]:
    spec = service.spec
    if not spec.ports or spec.cluster_ip in (None, "", "None"):
        return
    prefix = _name(service.metadata.name)
    address = spec.cluster_ip or ""
    host = f"[{address}]" if ":" in address else address
    yield f"{prefix}_SERVICE_HOST", address
    yield f"{prefix}_SERVICE_PORT", str(spec.ports[0].port)
    for place, port in enumerate(spec.ports):
        protocol = (port.protocol or "TCP").lower()
        url = f"{protocol}://{host}:{port.port}"
        link = f"{prefix}_PORT_{port.port}_{protocol.upper()}"
        if port.name:
            yield f"{prefix}_SERVICE_PORT_{_name(port.name)}", str(port.port)
        if place == 0:
            yield f"{prefix}_PORT", url
        yield link, url
        yield f"{link}_PROTO", protocol
        yield f"{link}_PORT", str(port.port)
        yield f"{link}_ADDR", address


def _name(text: str) -> str:
    return text.replace("-", "_").upper()
