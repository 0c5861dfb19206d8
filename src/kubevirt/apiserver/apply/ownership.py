"""The rules of ownership: who loses a field when another writes it, and when a field goes away.

An update takes what it changes from everybody. An apply takes what it says, which is a conflict
where others own it with another value; fields that it said last time and says no more are removed,
unless somebody else owns them. Owners speak of fields in the API version that they wrote, so the
same change is looked at in each version that occurs.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from kubevirt.apiserver.apply.comparing import Changes, compare
from kubevirt.apiserver.apply.conflicts import ApplyConflicts, conflicts_of
from kubevirt.apiserver.apply.fieldset import EMPTY, FieldSet
from kubevirt.apiserver.apply.managed import Managed, Manager, Owned
from kubevirt.apiserver.apply.merging import merge
from kubevirt.apiserver.apply.owning import fields_of
from kubevirt.apiserver.apply.reconciling import reconciled
from kubevirt.apiserver.apply.removing import remove, with_named_fields
from kubevirt.apiserver.apply.types import Type
from kubevirt.apiserver.apply.values import element_of
from kubevirt.apiserver.schema.plain import is_same

Object = dict[str, Any]


def in_version(object_: Object, api_version: str) -> Object:
    """The conversion of CRDs that have none: only the name of the version changes."""
    return {**object_, "apiVersion": api_version}


class Kind(Struct, frozen=True, kw_only=True, eq=False):
    """What the rules need to know of an endpoint: a kind in one version, perhaps a subresource."""

    api_version: str
    kind: str
    types: Mapping[str, Type]
    """By API version. Owners that speak of a version which is not here are forgotten."""
    subresource: str = ""
    ignored: Mapping[str, FieldSet] = {}
    """By API version: what a write through this endpoint cannot change, hence never owns."""
    convert: Callable[[Object, str], Object] = in_version

    @property
    def type(self) -> Type:
        return self.types[self.api_version]

    def nothing(self) -> Object:
        """What there is before there is an object."""
        return {"apiVersion": self.api_version, "kind": self.kind}

    def seen_as(self, object_: Object, api_version: str) -> Object:
        if object_.get("apiVersion") == api_version:
            return object_
        return self.convert(object_, api_version)


def owners_after(old: Object, new: Object, owners: Managed, kind: Kind) -> tuple[Managed, FieldSet]:
    """Of an update: everybody's fields without those that it changed, and those that it took."""
    owners = _understood(owners, kind)
    view = _View(old, new, kind)
    left = {}
    for manager, owned in owners.items():
        changes = view.changes(owned.api_version)
        fields = owned.fields - (changes.modified | changes.added) - changes.removed
        if fields:
            left[manager] = owned.with_fields(fields)
    mine = view.changes(kind.api_version)
    return left, mine.modified | mine.added


def merge_applied(
    live: Object,
    configuration: Object,
    owners: Managed,
    kind: Kind,
    me: Manager,
    *,
    force: bool,
) -> tuple[Object, Managed]:
    """The object after an apply, the same one where it changes nothing, and its owners.
    Raises `ApplyConflicts`.
    """
    owners = _understood(owners, kind)
    last = owners.get(me)
    said = fields_of(configuration, kind.type)
    said = said.without(kind.ignored.get(kind.api_version, EMPTY))
    owners[me] = Owned(said, kind.api_version, last.time if last else None)
    merged = merge(live, configuration, kind.type)
    if last is not None:
        merged = _without_what_is_said_no_more(merged, owners, kind, last, said)

    view = _View(live, merged, kind)
    left: Managed = {}
    lost: dict[Manager, FieldSet] = {}
    for manager, owned in owners.items():
        if manager == me:
            left[manager] = owned
            continue
        changes = view.changes(owned.api_version)
        if conflicting := owned.fields & (changes.modified | changes.added):
            lost[manager] = conflicting
        fields = owned.fields - conflicting - changes.removed
        if fields:
            left[manager] = owned.with_fields(fields)
    if lost and not force:
        raise ApplyConflicts(conflicts_of(lost))
    if not said:
        del left[me]
    return (live if is_same(live, merged) else merged), left


class _View:
    """One change as each API version sees it."""

    def __init__(self, old: Object, new: Object, kind: Kind) -> None:
        self._old, self._new, self._kind = old, new, kind
        self._changes: dict[str, Changes] = {}

    def changes(self, api_version: str) -> Changes:
        known = self._changes.get(api_version)
        if known is None:
            kind = self._kind
            known = compare(
                kind.seen_as(self._old, api_version),
                kind.seen_as(self._new, api_version),
                kind.types[api_version],
            )
            ignored = kind.ignored.get(api_version)
            if ignored:
                known = known.without(ignored)
            self._changes[api_version] = known
        return known


def _understood(owners: Managed, kind: Kind) -> Managed:
    """Owners in versions that exist, of fields as the schema has them today."""
    return {
        manager: owned.with_fields(reconciled(owned.fields, kind.types[owned.api_version]))
        for manager, owned in owners.items()
        if owned.api_version in kind.types
    }


def _without_what_is_said_no_more(
    merged: Object, owners: Managed, kind: Kind, last: Owned, said: FieldSet
) -> Object:
    """Removes a field or an item if this manager applied it last time, does not now, and no other
    manager owns it.
    """
    version, type_ = last.api_version, kind.types[last.api_version]
    if (
        version == kind.api_version
        and said.covers(last.fields)
        and not _may_lose_an_object(merged, last.fields, type_)
    ):
        return merged  # the long way would come to the same
    whole = kind.seen_as(merged, version)
    pruned = remove(whole, with_named_fields(last.fields, type_), type_)
    pruned = _with_what_others_own(whole, pruned or {}, owners, kind, version)
    # What went away below an item that went is nobody's business here unless it was ours.
    gone = with_named_fields(fields_of(whole, type_), type_) - with_named_fields(
        fields_of(kind.seen_as(pruned, version), type_), type_
    )
    left = remove(whole, gone & with_named_fields(last.fields, type_), type_)
    return kind.seen_as(left or {}, kind.api_version)


def _with_what_others_own(
    whole: Object, pruned: Object, owners: Managed, kind: Kind, version: str
) -> Object:
    owned_in: dict[str, FieldSet] = {version: EMPTY}
    for owned in owners.values():
        owned_in[owned.api_version] = owned_in.get(owned.api_version, EMPTY) | owned.fields
    for api_version, fields in owned_in.items():
        type_ = kind.types[api_version]
        whole = kind.seen_as(whole, api_version)
        pruned = kind.seen_as(pruned, api_version)
        kept = with_named_fields(fields_of(pruned, type_), type_) | with_named_fields(fields, type_)
        gone = with_named_fields(fields_of(whole, type_), type_) - kept
        pruned = remove(whole, gone, type_) or {}
    return pruned


def _may_lose_an_object(value: Any, fields: FieldSet, kind: Type | None) -> bool:
    """An object that was applied empty and has something in it by now. It counts as gone when nothing
    that is left of it counts as a field, which only the long way finds out.
    """
    if isinstance(value, dict) and kind and kind.map:
        for step in fields.members:
            child, named = value.get(step[2:]), kind.map.fields.get(step[2:])
            if child and child.__class__ is dict and named and _is_granular(named):
                return True
        return any(
            _may_lose_an_object(value.get(step[2:]), below, kind.map.field(step[2:]))
            for step, below in fields.children.items()
        )
    if isinstance(value, list) and kind and kind.list and fields.children:
        items = {element_of(item, kind.list): item for item in value}
        return any(
            _may_lose_an_object(items.get(step), below, kind.list.element)
            for step, below in fields.children.items()
        )
    return False


def _is_granular(kind: Type) -> bool:
    return kind.map is not None and not kind.map.is_atomic
