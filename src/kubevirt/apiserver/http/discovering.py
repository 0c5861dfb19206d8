"""The documents about the API itself: discovery, OpenAPI, version, health.

They are made when first asked for and kept until the kinds change.
"""

import hashlib
from collections.abc import Callable
from typing import Any, Final

from kubevirt.apiserver.http.answers import encode
from kubevirt.apiserver.http.media import META_GROUP
from kubevirt.apiserver.kinds import discovery, openapi
from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.kinds.discovery import Group

VERSION: Final = {
    "major": "1",
    "minor": "34",
    "emulationMajor": "1",
    "emulationMinor": "34",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "33",
    "gitVersion": "v1.34.4+kubevirt-py",
    "gitCommit": "",
    "gitTreeState": "",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "cpython",
    "platform": "linux/amd64",
}
"""The API that is spoken here is this version's."""

AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class Document:
    """Bytes with the tag by which a client asks whether they are still the same."""

    def __init__(self, content: Any, media: str = "application/json") -> None:
        self.body = encode(content)
        self.media = media
        self.etag = f'"{hashlib.sha256(self.body).hexdigest()[:32].upper()}"'


class Documents:
    def __init__(self, catalog: Catalog, address: str) -> None:
        self._catalog = catalog
        self._address = address
        self._generation = 0
        self._made: dict[tuple[str, bool], Document | None] = {}

    def find(self, path: str, accept: str) -> Document | None:
        """None if there is no such document."""
        if self._generation != self._catalog.generation:
            self._made.clear()
            self._generation = self._catalog.generation
        path = path.rstrip("/")
        is_aggregated = path in ("/api", "/apis") and _accepts_aggregated(accept)
        key = (path, is_aggregated)
        if key not in self._made:
            make = self._maker(path, is_aggregated=is_aggregated)
            if make is None:
                return None
            self._made[key] = make()
        return self._made[key]

    def _maker(self, path: str, *, is_aggregated: bool) -> Callable[[], Document] | None:
        match path.split("/")[1:]:
            case ["version"]:
                return lambda: Document(VERSION)
            case ["openapi", "v2"]:
                return lambda: Document(openapi.v2(self._catalog.groups.values()))
            case ["openapi", "v3"]:
                return self._index
            case ["openapi", "v3", *rest]:
                return self._of_version(rest, openapi.v3)
            case ["api" | "apis" as root]:
                return lambda: self._root(root, is_aggregated=is_aggregated)
            case ["apis", name] if name in self._catalog.groups:
                return lambda: Document(discovery.group(self._catalog.groups[name]))
            case rest:
                return self._of_version(rest, discovery.resource_list)

    def _root(self, root: str, *, is_aggregated: bool) -> Document:
        groups = self._catalog.groups
        named = [each for name, each in sorted(groups.items()) if name]
        if is_aggregated:
            shown = [groups[""]] if root == "api" else named
            return Document(discovery.aggregated(shown), AGGREGATED)
        if root == "api":
            return Document(discovery.api_versions(self._address))
        return Document(discovery.group_list(named))

    def _of_version(
        self, parts: list[str], written: Callable[[Group, str], Any]
    ) -> Callable[[], Document] | None:
        """Of the group and the version that a path like apis/GROUP/VERSION names."""
        match parts:
            case ["api", version]:
                name = ""
            case ["apis", name, version]:
                pass
            case _:
                return None
        group = self._catalog.groups.get(name)
        if group is None or version not in group.versions:
            return None
        return lambda: Document(written(group, version))

    def _index(self) -> Document:
        # A hash of the generation, not of each document: those are made only when somebody asks.
        groups = self._catalog.groups.values()
        tag = hashlib.sha256(f"{META_GROUP} {self._generation}".encode()).hexdigest().upper()
        tags = {
            openapi.root_of(group.name, version): tag
            for group in groups
            for version in group.versions
        }
        return Document(openapi.index(groups, tags))


def _accepts_aggregated(accept: str) -> bool:
    for offer in accept.split(","):
        parts = {part.strip() for part in offer.split(";")}
        wanted = {"application/json", "g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"}
        if wanted <= parts:
            return True
    return False
