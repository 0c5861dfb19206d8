"""Lamps: a kind of object that is all an informer needs, and an ear for what it tells."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from msgspec import field

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.resource import Resource
from kubevirt.api.struct import Struct
from kubevirt.base.tasks import background
from kubevirt.kube.cache.store import Change
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key


class Lamp(Struct, frozen=True, kw_only=True):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    colour: str | None = None


LAMPS = Resource("example.io", "v1", "lamps", "Lamp", namespaced=True, type=Lamp)


def lamp(name: str, colour: str = "white", **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "home", **metadata}, "colour": colour}


def key(name: str) -> Key:
    return Key("home", name)


def running(informer: Informer[Any]) -> AbstractAsyncContextManager[None]:
    return background(informer.run())


class Listener:
    """A handler that writes down what it hears."""

    def __init__(self) -> None:
        self.changes: list[Change[Lamp]] = []

    def __call__(self, change: Change[Lamp]) -> None:
        self.changes.append(change)

    @property
    def heard(self) -> list[str]:
        return [_sentence(change) for change in self.changes]


def _sentence(change: Change[Lamp]) -> str:
    verb = "added" if change.is_added else "deleted" if change.is_deleted else "updated"
    return f"{verb} {change.object.metadata.name} {change.object.colour}"
