"""How figures of KubeVirt's programs are found: a Service with a name that dashboards and monitors made for KubeVirt know."""

from typing import Final

from kubevirt.api.core.service import Service, ServicePort, ServiceSpec
from kubevirt.api.meta import ObjectMeta
from kubevirt.virt.install.options import LABELS, Options

NAME: Final = "kubevirt-prometheus-metrics"
PORT_NAME: Final = "metrics"
PORT: Final = 443
SELECTED: Final = "prometheus.kubevirt.io"
"""Label of pods that answer `/metrics` at a port of that name."""


def service(options: Options) -> Service:
    """Without an address of its own: each program is asked for itself."""
    return Service(
        api_version="v1",
        kind="Service",
        metadata=ObjectMeta(
            name=NAME, namespace=options.namespace, labels={**LABELS, SELECTED: "true"}
        ),
        spec=ServiceSpec(
            cluster_ip="None",
            selector={SELECTED: "true"},
            ports=(ServicePort(name=PORT_NAME, port=PORT, target_port=PORT_NAME, protocol="TCP"),),
        ),
    )
