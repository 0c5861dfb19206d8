"""What can be done to a pod beside writing it: it is bound to a node, and evicted."""

from functools import partial

from kubevirt.apiserver.registry.binding import bind
from kubevirt.apiserver.registry.evicting import evict
from kubevirt.apiserver.registry.registry import Registry


def register(registry: Registry) -> None:
    registry.answerers["", "bindings", ""] = partial(bind, registry)
    registry.answerers["", "pods", "binding"] = partial(bind, registry)
    registry.answerers["", "pods", "eviction"] = partial(evict, registry)
