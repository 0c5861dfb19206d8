"""`metadata.managedFields`: which manager owns which fields, since when, by which kind of write.

A manager is known by name, operation and subresource; one that updates also by API version, since it
saw the object in that version, while one that applies always means the same configuration.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from kubevirt.apiserver.apply.elements import BadElement
from kubevirt.apiserver.apply.fieldset import FieldSet
from kubevirt.base.errors import UserError

APPLY: Final = "Apply"
UPDATE: Final = "Update"
ANCIENT_CHANGES: Final = "ancient-changes"
BEFORE_FIRST_APPLY: Final = "before-first-apply"
MAX_UPDATERS: Final = 10
"""Entries of updates beyond this number are merged, oldest first: an object does not grow forever."""


class BadManagedFields(UserError):  # noqa: N818  # it is what they are
    """Entries that say nothing sensible, in Kubernetes' words."""


class Manager(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Who, as an entry says it. The JSON form orders managers where Kubernetes orders them."""

    manager: str = ""
    operation: str = ""
    api_version: str = ""
    """Empty for those that apply."""
    subresource: str = ""

    @property
    def is_applier(self) -> bool:
        return self.operation == APPLY

    def order(self) -> bytes:
        return msgspec.json.encode(self)

    def __str__(self) -> str:
        """As conflicts name it."""
        shown = msgspec.json.encode(self.manager).decode()
        if self.subresource:
            shown += f' with subresource "{self.subresource}"'
        return shown if self.is_applier else f"{shown} using {self.api_version}"


class Owned(Struct, frozen=True, eq=False):
    """What one manager owns, as fields of one API version."""

    fields: FieldSet
    api_version: str
    time: str | None = None

    def with_fields(self, fields: FieldSet) -> "Owned":
        return self if fields is self.fields else Owned(fields, self.api_version, self.time)


Managed = dict[Manager, Owned]


def applier(name: str, subresource: str = "") -> Manager:
    return Manager(manager=name or "unknown", operation=APPLY, subresource=subresource)


def updater(name: str, api_version: str, subresource: str = "") -> Manager:
    return Manager(
        manager=name or "unknown",
        operation=UPDATE,
        api_version=api_version,
        subresource=subresource,
    )


def is_reset(entries: Any) -> bool:
    """An empty list, or one with an empty entry, tells the server to forget all owners."""
    return isinstance(entries, list) and (
        not entries or (len(entries) == 1 and not _set_fields(entries[0]))
    )


def _set_fields(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        return {"": entry}
    return {name: value for name, value in entry.items() if value not in (None, "", {})}


def decode(entries: Iterable[Mapping[str, Any]] | None) -> Managed:
    """Raises `BadManagedFields`."""
    managed: Managed = {}
    for index, entry in enumerate(entries or ()):
        operation = entry.get("operation", "")
        if operation not in (APPLY, UPDATE):
            raise BadManagedFields("operation must be `Apply` or `Update`")
        api_version = entry.get("apiVersion", "")
        if not api_version:
            raise BadManagedFields("apiVersion must not be empty")
        kind = entry.get("fieldsType", "")
        if not kind:
            raise BadManagedFields(f"missing fieldsType in managed fields entry {index}")
        if kind != "FieldsV1":
            raise BadManagedFields(f'invalid fieldsType "{kind}" in managed fields entry {index}')
        manager = Manager(
            manager=entry.get("manager", ""),
            operation=operation,
            api_version="" if operation == APPLY else api_version,
            subresource=entry.get("subresource", ""),
        )
        try:
            fields = FieldSet.from_json(entry.get("fieldsV1") or {})
        except (BadElement, AttributeError) as error:
            raise BadManagedFields(f"error decoding set: {error}") from error
        managed[manager] = Owned(fields, api_version, entry.get("time"))
    return managed


def encode(managed: Managed) -> list[dict[str, Any]]:
    """Appliers first, then by time and name."""
    entries = [_entry(manager, owned) for manager, owned in managed.items()]
    entries.sort(
        key=lambda entry: (
            entry["operation"],
            entry.get("time", ""),
            entry["manager"],
            entry["apiVersion"],
            entry.get("subresource", ""),
        )
    )
    return entries


def _entry(manager: Manager, owned: Owned) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "apiVersion": owned.api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": owned.fields.to_json(),
        "manager": manager.manager,
        "operation": manager.operation,
    }
    if manager.subresource:
        entry["subresource"] = manager.subresource
    if owned.time is not None:
        entry["time"] = owned.time
    return entry


def capped(managed: Managed, limit: int = MAX_UPDATERS) -> Managed:
    """The oldest updates become one entry for each API version, until there are few enough."""
    updaters = [manager for manager in managed if not manager.is_applier]
    surplus = len(updaters) - limit
    if surplus <= 0:
        return managed
    updaters.sort(key=lambda manager: (managed[manager].time or "", manager.order()))
    kept = dict(managed)
    first_of: dict[str, Manager] = {}
    for manager in updaters:
        if surplus <= 0:
            break
        owned = kept[manager]
        first = first_of.setdefault(owned.api_version, manager)
        if first == manager:
            continue
        bucket = updater(ANCIENT_CHANGES, owned.api_version)
        if bucket not in kept:
            kept[bucket] = kept.pop(first)
        together = owned.fields | kept[bucket].fields
        del kept[manager]
        kept[bucket] = Owned(together, owned.api_version, owned.time)
        surplus -= 1
    return kept
