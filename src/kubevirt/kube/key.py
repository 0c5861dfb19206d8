"""The key of an object: where it is found, as opposed to which one it is (its UID)."""

from typing import NamedTuple, Protocol


class Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def namespace(self) -> str | None: ...


class HasName(Protocol):
    @property
    def metadata(self) -> Named: ...


class Key(NamedTuple):
    """What a queue holds and a cache is asked for. `namespace` is empty for cluster-wide objects."""

    namespace: str
    name: str

    @classmethod
    def of(cls, thing: HasName) -> "Key":
        metadata = thing.metadata
        return cls(metadata.namespace or "", metadata.name)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name
