"""From a change in a cache to the keys that need work.

A trigger is a function from a `Change` to keys. It only says who should look again: what happened
and what to do is found out by `reconcile`, which reads the caches anew.

    controller.watch(vms, own)
    controller.watch(vmis, owner_in(vms))
    controller.watch(nodes, vmis_on_node, when_changed=lambda node: node.spec.unschedulable)
"""

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from kubevirt.api.resource import Resource
from kubevirt.kube.cache.store import Cacheable, Change
from kubevirt.kube.errors import UndecodableObject
from kubevirt.kube.key import Key

T = TypeVar("T", bound=Cacheable)


class Owners(Protocol):
    """The cache of those who own: an informer."""

    @property
    def resource(self) -> Resource[Any]: ...
    def get(self, key: Key) -> Cacheable | None: ...


def own(change: Change[T]) -> tuple[Key, ...]:
    """The key of the object that changed."""
    return (change.key,)


def owner_in(owners: Owners) -> Callable[[Change[Any]], Iterable[Key]]:
    """The key of the object in `owners` that controls the one that changed.

    Identity is the UID: a child of a deleted owner does not trigger another that got its name. Both
    the old and the new owner hear of a child that was adopted. An owner that is not in the cache yet
    needs no trigger, since its own arrival is one.
    """

    def trigger(change: Change[Any]) -> Iterable[Key]:
        children = [child for child in (change.old, change.new) if child is not None]
        return dict.fromkeys(key for child in children if (key := _owner_of(child, owners)))

    return trigger


def _owner_of(child: Cacheable, owners: Owners) -> Key | None:
    reference = next((each for each in child.metadata.owner_references if each.controller), None)
    if reference is None:
        return None
    namespace = child.metadata.namespace if owners.resource.namespaced else ""
    key = Key(namespace or "", reference.name)
    try:
        owner = owners.get(key)
    except UndecodableObject:
        return key  # there is one, and its reconcile will say what is wrong with it
    return key if owner is not None and owner.metadata.uid == reference.uid else None
