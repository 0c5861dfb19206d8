"""The documents about the API itself: discovery, OpenAPI, version, health.

They are made when first asked for and kept until the kinds change, here or elsewhere.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from kubevirt.apiserver.aggregation.directory import Directory
from kubevirt.apiserver.http.answers import encode
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
        self.etag = f'"{self.hash}"'

    @property
    def hash(self) -> str:
        """Of the content: the same after a restart, and on another server."""
        return hashlib.sha256(self.body).hexdigest()[:32].upper()


V2_PROTOBUF: Final = "application/com.github.proto-openapi.spec.v2"
V2_OUTLINE: Final = Document(msgspec.Raw(openapi.V2_OUTLINE), f"{V2_PROTOBUF}.v1.0+protobuf")


class Documents:
    def __init__(self, catalog: Catalog, address: str, directory: Directory | None = None) -> None:
        self._catalog = catalog
        self._address = address
        self._directory = directory or Directory()
        self._generation = (0, 0)
        self._made: dict[tuple[str, bool], Document | None] = {}
        self._tags_of = 0
        self._known_tags: dict[str, str] = {}

    def find(self, path: str, accept: str) -> Document | None:
        """None if there is no such document."""
        generation = (self._catalog.generation, self._directory.generation)
        if self._generation != generation:
            self._made.clear()
            self._generation = generation
        path = path.rstrip("/")
        if path == "/openapi/v2" and accept.startswith(V2_PROTOBUF):
            return V2_OUTLINE
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
                return self._v2
            case ["openapi", "v3"]:
                return self._index
            case ["openapi", "v3", *rest]:
                return self._of_version(rest, openapi.v3)
            case ["api" | "apis" as root]:
                return lambda: self._root(root, is_aggregated=is_aggregated)
            case ["apis", name]:
                return self._group(name)
            case rest:
                return self._of_version(rest, discovery.resource_list)

    def _root(self, root: str, *, is_aggregated: bool) -> Document:
        groups = self._catalog.groups
        listed = self._directory.groups(groups) if root == "apis" else [groups[""]]
        if is_aggregated:
            found = (
                (each.name, [self._listed(each.name, v) for v in each.versions]) for each in listed
            )
            return Document(discovery.aggregated(found), AGGREGATED)
        if root == "api":
            return Document(discovery.api_versions(self._address))
        return Document(discovery.group_list(listed))

    def _listed(self, group: str, version: str) -> dict[str, Any]:
        """As whoever serves it lists it."""
        elsewhere = self._directory.described(group, version)
        return elsewhere or discovery.aggregated_version(self._catalog.groups[group], version)

    def _group(self, name: str) -> Callable[[], Document] | None:
        listed = self._directory.groups(self._catalog.groups)
        found = next((each for each in listed if each.name == name), None)
        return (lambda: Document(discovery.group(found))) if found else None

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
        index = openapi.index(self._catalog.groups.values(), self._tags())
        return Document({"paths": index["paths"] | self._directory.open_api_paths})

    def _tags(self) -> Mapping[str, str]:
        """Of what is served here: somebody else who comes and goes does not make them be worked out anew."""
        if self._tags_of != self._catalog.generation:
            self._tags_of = self._catalog.generation
            # Made to be hashed, not to be kept: most clients want one of them.
            self._known_tags = {
                openapi.root_of(group.name, version): Document(openapi.v3(group, version)).hash
                for group in self._catalog.groups.values()
                for version in group.versions
            }
        return self._known_tags

    def _v2(self) -> Document:
        own = openapi.v2(self._catalog.groups.values())
        return Document(self._directory.open_api_v2(own))


def _accepts_aggregated(accept: str) -> bool:
    for offer in accept.split(","):
        parts = {part.strip() for part in offer.split(";")}
        wanted = {"application/json", "g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"}
        if wanted <= parts:
            return True
    return False
