"""The server's own admission: what Kubernetes adds to pods and claims before anybody else sees them.

A plugin a file, each a step of `registry/admission.py`, in Kubernetes' order. What they look up in the
store they look up through `lookup.py`. Two of Kubernetes' are left out on purpose, for where this server
stands alone nobody takes away what they put: the taint of new nodes, and the finalizers that protect
volumes in use. Controllers of the embedded home put and take both.
"""

from collections.abc import Sequence

from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.plugins.lookup import Lookup
from kubevirt.apiserver.plugins.priorities import Priorities
from kubevirt.apiserver.plugins.runtime_classes import RuntimeClasses
from kubevirt.apiserver.plugins.service_accounts import ServiceAccounts
from kubevirt.apiserver.plugins.service_addresses import (
    ServiceAddresses,
    ServiceAddressSettings,
)
from kubevirt.apiserver.plugins.storage_classes import DefaultStorageClass
from kubevirt.apiserver.plugins.tolerations import DefaultTolerations
from kubevirt.apiserver.registry.admission import Step
from kubevirt.apiserver.registry.chance import Chance
from kubevirt.apiserver.storage.store import Store
from kubevirt.base.clock import Clock


def steps(
    store: Store,
    catalog: Catalog,
    clock: Clock,
    chance: Chance,
    addresses: ServiceAddressSettings,
) -> Sequence[Step]:
    lookup = Lookup(store, catalog, clock)
    return (
        ServiceAccounts(lookup, chance),
        Priorities(lookup),
        DefaultTolerations(),
        DefaultStorageClass(lookup),
        RuntimeClasses(),
        ServiceAddresses(lookup, clock, addresses),
    )
