"""Annotations of an instance that change its hardware."""

from typing import Final

FREE_PAGE_REPORTING_DISABLED: Final = "kubevirt.io/free-page-reporting-disabled"
"""true keeps the balloon from handing unused memory back to the node."""
MEMFD: Final = "kubevirt.io/memfd"
"""false backs huge pages by files instead of memfd."""
DISABLE_PCI_HOLE_64: Final = "kubevirt.io/disablePCIHole64"
"""true takes away the 64-bit PCI window, over which some old guests stumble."""
INSTANCETYPE: Final = "kubevirt.io/instancetype-name"
CLUSTER_INSTANCETYPE: Final = "kubevirt.io/cluster-instancetype-name"
PCI_TOPOLOGY_VERSION: Final = "kubevirt.io/pci-topology-version"
ISTIO_INJECT: Final = "sidecar.istio.io/inject"
"""true: a proxy shares the pod's network and its nat table."""
