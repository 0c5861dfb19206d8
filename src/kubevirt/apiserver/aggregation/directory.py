"""All groups and versions, here and elsewhere, in Kubernetes' order, with what is known about them.

What others serve is shown as they described it when they were last asked: nobody who looks at the directory
waits for any of them, and one that is away takes nothing from the others but its own part.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from kubevirt.apiserver.aggregation import description, priorities
from kubevirt.apiserver.aggregation.descriptions import Descriptions
from kubevirt.apiserver.aggregation.priorities import OF_CUSTOM, Priority
from kubevirt.apiserver.aggregation.registration import Registration
from kubevirt.apiserver.aggregation.registrations import Registrations
from kubevirt.apiserver.kinds import discovery
from kubevirt.apiserver.kinds.discovery import Group

Document = dict[str, Any]


class Listed(msgspec.Struct, frozen=True):
    """A group and its versions, the most preferred first."""

    name: str
    versions: list[str]


class Directory:
    def __init__(
        self,
        registrations: Registrations | None = None,
        descriptions: Descriptions | None = None,
    ) -> None:
        self._registrations = registrations or Registrations()
        self._descriptions = descriptions or Descriptions()

    @property
    def generation(self) -> int:
        """Changes with its content."""
        return self._registrations.generation + self._descriptions.generation

    def groups(self, local: Mapping[str, Group]) -> list[Listed]:
        """All but the one without a name."""
        found: dict[str, dict[str, Priority]] = {}
        for group, version, priority in self._versions(local):
            if group:
                found.setdefault(group, {})[version] = priority
        names = sorted(found, key=lambda name: (-_first(found[name]), name))
        return [Listed(name, sorted(found[name], key=_rank(found[name]))) for name in names]

    def _versions(self, local: Mapping[str, Group]) -> Iterator[tuple[str, str, Priority]]:
        for group in local.values():
            for version in group.versions:
                known = self._registrations.get(f"{version}.{group.name}")
                default = priorities.builtin(group.name) or OF_CUSTOM
                yield group.name, version, _priority(known) if known else default
        for each in self._registrations.elsewhere:
            yield each.group, each.version, _priority(each)

    def described(self, group: str, version: str) -> Document | None:
        """Its part of aggregated discovery; None if it is served here."""
        found = self._registrations.serving(group, version)
        if found is None:
            return None
        known = self._descriptions.get(found.name)
        resources = {"resources": list(known.resources)} if known.resources else {}
        return {"version": version, **resources, "freshness": known.freshness}

    @property
    def open_api_paths(self) -> Document:
        """To be added to the index of OpenAPI v3."""
        return {
            path: address
            for each in self._registrations.elsewhere
            for path, address in self._descriptions.get(each.name).open_api_paths.items()
        }

    def open_api_v2(self, own: Document) -> Document:
        for each in self._registrations.elsewhere:
            if body := self._descriptions.get(each.name).open_api_v2:
                own = description.merged_v2(own, body, each.path)
        return own


def _priority(registration: Registration) -> Priority:
    return Priority(registration.group_priority, registration.version_priority)


def _first(versions: Mapping[str, Priority]) -> int:
    return max(each.group for each in versions.values())


def _rank(versions: Mapping[str, Priority]) -> Any:
    return lambda version: (-versions[version].version, discovery.version_rank(version))
