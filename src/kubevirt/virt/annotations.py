"""Annotations of an instance that change how its guest is run."""

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
HOOK_SIDECARS: Final = "hooks.kubevirt.io/hookSidecars"
"""Containers beside the launcher that have a say in the domain."""
