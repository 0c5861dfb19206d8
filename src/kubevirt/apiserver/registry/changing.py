"""update: an object as it shall be, in place of what it was. Patches end here too."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import msgspec

from kubevirt.apiserver import refusals
from kubevirt.apiserver.apply import writes
from kubevirt.apiserver.refusals import Refusal
from kubevirt.apiserver.registry import (
    creating,
    incoming,
    options,
    preparing,
    stored,
    versions,
    warnings,
)
from kubevirt.apiserver.registry.admission import Review
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.incoming import Body
from kubevirt.apiserver.registry.options import WriteOptions
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.results import One
from kubevirt.apiserver.registry.served import Served
from kubevirt.apiserver.schema.plain import is_same
from kubevirt.apiserver.storage.errors import Conflict
from kubevirt.apiserver.storage.records import Entry

Object = dict[str, Any]

ATTEMPTS: Final = 5
"""Of a write that does not say which version it was made for, while others are quicker."""


async def update(registry: Registry, call: Call, body: Body) -> One:
    wanted = options.of_write(call)
    served = registry.served(call.kind)
    said = incoming.read(call, served.shape(call.version), body, wanted)
    incoming.check_name(call, said)
    said = incoming.stand_in_namespace(call, said)
    for _ in range(ATTEMPTS):
        entry = await registry.store.get(call.key)
        if entry is None:
            if served.rules.is_created_by_update and not call.subresource:
                versions.said_by(said)  # any will do
                return await creating.store_new(registry, call, said, wanted)
            raise refusals.not_found(call.kind, call.name)
        old = stored.object_of(entry, call.api_version)
        new = _of_version(served, said, old)
        _check_identity(call, new, old)
        try:
            return await store_change(registry, call, new, entry, wanted)
        except Conflict as conflict:
            if versions.said_by(said):
                raise refusals.modified(call.kind, call.name) from conflict
    raise refusals.modified(call.kind, call.name)


def _of_version(served: Served, said: Object, old: Object) -> Object:
    """With the version that there is, where the client named none and the kind lets it."""
    if versions.said_by(said) or served.rules.needs_version_to_update:
        return said
    version = old["metadata"]["resourceVersion"]
    return {**said, "metadata": {**said["metadata"], "resourceVersion": version}}


def _check_identity(call: Call, new: Object, old: Object) -> None:
    wanted, found = new["metadata"].get("uid"), old["metadata"]["uid"]
    if wanted and wanted != found:
        raise other_uid(call, wanted, found)
    versions.check(call, new, old)
    if not versions.said_by(new):
        raise versions.missing(call)


def other_uid(call: Call, wanted: str, found: str) -> Refusal:
    words = f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
    storage = f"StorageError: invalid object, Code: 4, Key: {call.key}, ResourceVersion: 0"
    return refusals.conflict(call.kind, call.name, f"{storage}, AdditionalErrorMsg: {words}")


class Part(msgspec.Struct, frozen=True):
    """What is written as an object of its own, such as a scale: admission sees no more of it."""

    of: Callable[[Object], Object]
    put: Callable[[Object, Object], Object]
    """Into the whole."""


async def store_change(
    registry: Registry,
    call: Call,
    new: Object,
    entry: Entry,
    wanted: WriteOptions,
    *,
    is_applied: bool = False,
    part: Part | None = None,
) -> One:
    """Makes `new` of what lies in the store. Raises the store's `Conflict` if that is something else
    by now.
    """
    served = registry.served(call.kind)
    old = stored.object_of(entry, call.api_version)
    new = await _made(registry, call, new, old, wanted, is_applied=is_applied, part=part)
    if new["metadata"].get("deletionTimestamp") and may_go(served, new):
        if not wanted.dry_run:
            await registry.store.delete(entry)
        return One(value=stored.encoded(new), revision=entry.revision)
    if is_same(old, new):
        return One(value=entry.value, revision=entry.revision)
    value = stored.encoded(new)
    if wanted.dry_run:
        return One(value=value, revision=entry.revision)
    changed = await registry.store.update(entry, value)
    return One(value=value, revision=changed.revision)


def may_go(served: Served, object_: Object) -> bool:
    """Nobody holds it any more, and there is no grace left to wait for."""
    grace_s = object_["metadata"].get("deletionGracePeriodSeconds") or 0
    return not served.rules.is_held(object_) and grace_s == 0


async def _made(
    registry: Registry,
    call: Call,
    new: Object,
    old: Object,
    wanted: WriteOptions,
    *,
    is_applied: bool,
    part: Part | None,
) -> Object:
    """The object as it will be stored."""
    served, version = registry.served(call.kind), call.version
    new = served.defaulted(preparing.carried_over(new, old), version)
    if not is_applied:
        endpoint = served.shapes.endpoint(version, call.subresource)
        # Kubernetes does not write down when somebody has written a scale.
        now = None if part else registry.now()
        new = writes.update(old, new, endpoint, by=wanted.manager, now=now)
    review = _review(served, call, old, wanted, part)
    if part:
        new = part.put(new, await registry.admission.mutate(part.of(new), review))
    else:
        new = await registry.admission.mutate(new, review)
    new = _within_reach(served, call, new, old)
    if served.rules.has_generation and preparing.is_another_intent(new, old, version):
        new = preparing.with_generation(new, old["metadata"].get("generation", 0) + 1)
    served.check_change(new, old, version, call.subresource)
    call.warnings += warnings.of_change(call.kind, new, old, call.subresource)
    await registry.admission.validate(part.of(new) if part else new, review)
    if is_applied:
        new = served.read_again(new, version)
    return writes.keep_times_of_no_op(old, new)


def _review(
    served: Served, call: Call, old: Object, wanted: WriteOptions, part: Part | None
) -> Review:
    review = Review(
        call=call,
        operation="UPDATE",
        old=part.of(old) if part else old,
        dry_run=wanted.dry_run,
        options=options.document(call, "UpdateOptions"),
    )
    if part:
        return review
    read_again = partial(_changed_outside, served, call, old=old)
    return msgspec.structs.replace(review, read_again=read_again)


def _changed_outside(served: Served, call: Call, changed: Object, *, old: Object) -> Object:
    """Also of a webhook that claims to know another object."""
    new = incoming.stand_in_namespace(call, served.changed_outside(changed, call.version))
    versions.check(call, new, old)
    return preparing.carried_over(new, old)


def _within_reach(served: Served, call: Call, new: Object, old: Object) -> Object:
    """Only what this endpoint may change is changed."""
    if call.subresource == "status":
        new = preparing.only_status(new, old, keeps_metadata=served.rules.is_custom)
        return served.rules.status_changed(new, old)
    if call.subresource == "ephemeralcontainers":
        return served.rules.looked_into(new, old)
    if call.subresource == "finalize":
        return {**old, "metadata": new["metadata"], "spec": new.get("spec", {})}
    if "status" in call.version.subresources:
        new = preparing.all_but_status(new, old)
    return served.rules.changed(new, old)
