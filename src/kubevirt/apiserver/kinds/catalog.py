"""All kinds that are served right now: the built-in ones, and those that CRDs define."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from kubevirt.apiserver.kinds import builtin, discovery
from kubevirt.apiserver.kinds.custom import CustomKind, Scale
from kubevirt.apiserver.kinds.discovery import Group
from kubevirt.apiserver.kinds.kind import Kind, Version


class Catalog:
    """`generation` counts its changes, so that what is made from it can be kept until then."""

    def __init__(self, kinds: Iterable[Kind] | None = None) -> None:
        self._builtin = tuple(builtin.kinds() if kinds is None else kinds)
        self._custom: dict[str, CustomKind] = {}
        self.generation = 0
        self._found: dict[tuple[str, str], Kind] = {}
        self._groups: dict[str, Group] = {}
        self._followers: dict[Callable[[], None], None] = {}
        self._index()

    def _index(self) -> None:
        self.generation += 1
        kinds = (*self._builtin, *(each.kind for each in self._custom.values()))
        self._found = {(each.group, each.names.plural): each for each in kinds}
        self._groups = discovery.groups(kinds)
        for follower in list(self._followers):
            follower()

    @contextmanager
    def followed(self, changed: Callable[[], None]) -> Iterator[None]:
        """`changed` is called after every change, for as long as the body lasts."""
        self._followers[changed] = None
        try:
            yield
        finally:
            del self._followers[changed]

    def find(self, group: str, version: str, plural: str) -> tuple[Kind, Version] | None:
        kind = self._found.get((group, plural))
        found = kind.version(version) if kind else None
        return (kind, found) if kind and found else None

    def kind(self, group: str, plural: str) -> Kind:
        return self._found[group, plural]

    def known(self, group: str, plural: str) -> Kind | None:
        return self._found.get((group, plural))

    @property
    def kinds(self) -> Iterable[Kind]:
        return self._found.values()

    @property
    def namespaces(self) -> Kind:
        return self.kind("", "namespaces")

    @property
    def groups(self) -> dict[str, Group]:
        return self._groups

    def serves(self, kind: Kind) -> bool:
        """Whether it is still the one; watches of a kind that is gone must end."""
        return self._found.get((kind.group, kind.names.plural)) is kind

    # Custom kinds

    def custom(self, name: str) -> CustomKind | None:
        """By the name of its CRD."""
        return self._custom.get(name)

    @property
    def names_of_customs(self) -> set[str]:
        return set(self._custom)

    @property
    def customs(self) -> Iterable[CustomKind]:
        return self._custom.values()

    def put(self, name: str, custom: CustomKind) -> None:
        self._custom[name] = custom
        self._index()

    def remove(self, name: str) -> None:
        if self._custom.pop(name, None):
            self._index()

    def scale(self, kind: Kind, version: Version) -> Scale | None:
        custom = self._custom.get(kind.group_resource)
        return custom.scales.get(version.name) if custom else None
