"""What a write does to an object's owners, and what an apply does to the object.

    made = update(None, body, lamps, by="kubectl-create", now=now)
    made = apply(live, configuration, lamps, by="kubectl", now=now)

Both give the object with its `managedFields` as they are afterwards. Neither changes what it is
given; the result may share parts with it. A write that changes nothing leaves every entry alone, its
time included; the last word on that has `keep_times_of_no_op`, once admission has seen the object.
"""

from collections.abc import Callable
from typing import Any

from kubevirt.apiserver.apply import last_applied, managed
from kubevirt.apiserver.apply.checking import DoesNotFit, check
from kubevirt.apiserver.apply.conflicts import ApplyConflicts
from kubevirt.apiserver.apply.fieldset import FieldSet
from kubevirt.apiserver.apply.managed import (
    BEFORE_FIRST_APPLY,
    BadManagedFields,
    Managed,
    Manager,
    Owned,
    applier,
    updater,
)
from kubevirt.apiserver.apply.ownership import Kind, merge_applied, owners_after
from kubevirt.apiserver.apply.values import NoElement
from kubevirt.apiserver.schema.plain import is_same
from kubevirt.base.errors import UserError

Object = dict[str, Any]

_NEVER_OWNED = FieldSet.of(
    ("f:apiVersion",),
    ("f:kind",),
    ("f:metadata",),
    *(
        ("f:metadata", f"f:{name}")
        for name in (
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "clusterName",
            "generation",
            "managedFields",
            "resourceVersion",
        )
    ),
)


class BadApply(UserError):  # noqa: N818  # it is what the request is
    """An apply that cannot be one. `reason` is that of the Status; none goes with a 500."""


def update(live: Object | None, new: Object, kind: Kind, *, by: str, now: str | None) -> Object:
    """After create, update and every patch but apply. Never fails: an object whose owners cannot be
    told loses them, as in Kubernetes. Without `now` nobody will know since when.
    """
    before = kind.nothing() if live is None else live
    entries = new.get("metadata", {}).get("managedFields")
    object_ = _with_entries(new, None)
    try:
        owners = _claimed_owners(before, entries, kind)
        if not owners and before.get("metadata", {}).get("uid"):
            return object_  # somebody asked the server to forget them, and nobody applied since
        owners = _updated(_with_entries(before, None), object_, owners, kind, by=by, now=now)
    except (NoElement, BadManagedFields):
        return object_
    return _with_entries(object_, managed.encode(managed.capped(owners)))


def _claimed_owners(live: Object, entries: Any, kind: Kind) -> Managed:
    """Those that the request states, if it may and states any; else those of the object."""
    if not kind.subresource:
        if managed.is_reset(entries):
            return {}
        try:
            if stated := managed.decode(entries):
                return stated
        except BadManagedFields:
            pass
    try:
        return managed.decode(live.get("metadata", {}).get("managedFields"))
    except BadManagedFields:
        return {}


def _updated(
    live: Object, new: Object, owners: Managed, kind: Kind, *, by: str, now: str | None
) -> Managed:
    owners, taken = owners_after(live, new, owners, kind)
    taken -= _NEVER_OWNED
    if taken:
        me = updater(by, kind.api_version, kind.subresource)
        if me in owners:
            taken |= owners[me].fields
        owners[me] = Owned(taken, kind.api_version, now)
    return owners


def apply(
    live: Object | None,
    configuration: Object,
    kind: Kind,
    *,
    by: str,
    now: str,
    force: bool = False,
    default: Callable[[Object], Object] = lambda object_: object_,
) -> Object:
    """`live` is None where the object does not exist yet. `default` fills in what the schema or the
    kind defaults. Raises `BadApply` and `ApplyConflicts`.
    """
    _refuse_what_is_no_configuration(configuration, kind)
    before = kind.nothing() if live is None else live
    try:
        owners = managed.decode(before.get("metadata", {}).get("managedFields"))
    except BadManagedFields as error:
        raise BadApply(f"failed to decode managed fields: {error}", reason="") from error
    before = _with_entries(before, None)
    if not owners:
        owners = _updated(kind.nothing(), before, owners, kind, by=BEFORE_FIRST_APPLY, now=now)
    me = applier(by, kind.subresource)
    try:
        merged, owners = merge_applied(before, configuration, owners, kind, me, force=force)
    except ApplyConflicts as refusal:
        last_applied.allow(refusal, before, kind, by=by)
        merged, owners = merge_applied(before, configuration, owners, kind, me, force=True)
    owners = _without_what_nobody_owns(owners, me)
    if merged is not before:
        if me in owners:
            owners[me] = Owned(owners[me].fields, kind.api_version, now)
        merged = default(merged)
    if by == last_applied.KUBECTL:
        merged = last_applied.refreshed(merged, configuration)
    return _with_entries(merged, managed.encode(owners))


def _refuse_what_is_no_configuration(configuration: Object, kind: Kind) -> None:
    version, name = configuration.get("apiVersion", ""), configuration.get("kind", "")
    if (version, name) != (kind.api_version, kind.kind):
        shown = f"{version}, Kind={name}" if "/" in version else f"/{version}, Kind={name}"
        raise BadApply(f"invalid object type: {shown}", reason="BadRequest")
    metadata = configuration.get("metadata") or {}
    if metadata.get("managedFields") is not None:
        raise BadApply("metadata.managedFields must be nil", reason="BadRequest")
    try:
        check(configuration, kind.type)
    except DoesNotFit as error:
        whose = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
        gvk = f"{version}, Kind={name}" if "/" in version else f"/{version}, Kind={name}"
        raise BadApply(
            f"failed to create typed patch object ({whose}; {gvk}): {error}",
            reason="",
        ) from error


def _without_what_nobody_owns(owners: Managed, me: Manager) -> Managed:
    kept = dict(owners)
    if me in kept:
        fields = kept[me].fields - _NEVER_OWNED
        if fields:
            kept[me] = kept[me].with_fields(fields)
        else:
            del kept[me]
    return kept


def keep_times_of_no_op(old: Object, new: Object) -> Object:
    """The new object with the old times, where times are all that changed."""
    before = old.get("metadata", {}).get("managedFields") or []
    after = new.get("metadata", {}).get("managedFields") or []
    if not after or len(before) != len(after) or before == after:
        return new
    if _without_times(before) != _without_times(after):
        return new
    if not is_same(_with_entries(old, None), _with_entries(new, None)):
        return new
    return _with_entries(new, before)


def _without_times(entries: list[Object]) -> list[Object]:
    return [{name: value for name, value in each.items() if name != "time"} for each in entries]


def _with_entries(object_: Object, entries: list[Object] | None) -> Object:
    """With these managed fields, or without any."""
    metadata = object_.get("metadata") or {}
    if not entries and "managedFields" not in metadata:
        return object_
    changed = {name: value for name, value in metadata.items() if name != "managedFields"}
    if entries:
        changed["managedFields"] = entries
    return {**object_, "metadata": changed}
