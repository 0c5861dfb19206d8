"""Services and slices, as short as tests want them."""

from typing import Any

import msgspec

from kubevirt.embedded.network.objects import EndpointSlice, Service


def a_service(name: str = "web", namespace: str = "default", **spec: Any) -> Service:
    whole = {"clusterIP": "10.96.0.7", "ports": [{"name": "http", "port": 80}], **spec}
    body = {"metadata": {"name": name, "namespace": namespace}, "spec": whole}
    return msgspec.convert(body, Service)


def an_endpoint(address: str, **more: Any) -> dict[str, Any]:
    return {"addresses": [address], "conditions": {"ready": True}, **more}


def a_slice(
    *endpoints: dict[str, Any],
    service: str = "web",
    namespace: str = "default",
    ports: Any = ({"name": "http", "port": 8080, "protocol": "TCP"},),
    address_type: str = "IPv4",
) -> EndpointSlice:
    labels = {"kubernetes.io/service-name": service}
    body = {
        "metadata": {"name": f"{service}-x", "namespace": namespace, "labels": labels},
        "addressType": address_type,
        "endpoints": list(endpoints),
        "ports": list(ports) if ports is not None else None,
    }
    return msgspec.convert(body, EndpointSlice)
