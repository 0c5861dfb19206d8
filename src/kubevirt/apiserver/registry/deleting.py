"""delete and deletecollection: an object goes at once, or is marked and goes when nobody holds it.

Who waits for dependants, or lets them go, is the garbage collector's work; here an object only gets the
finalizer that tells the collector what to do.
"""

from contextlib import aclosing
from datetime import timedelta
from typing import Any, Final

from kubevirt.api.meta import StatusDetails
from kubevirt.apiserver import refusals
from kubevirt.apiserver.refusals import Refusal, refusal
from kubevirt.apiserver.registry import options, reading, stored
from kubevirt.apiserver.registry.admission import Review
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.options import DeleteOptions
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.results import Flowing, One, Plain, Result
from kubevirt.apiserver.registry.served import Served
from kubevirt.apiserver.schema.plain import is_same
from kubevirt.apiserver.storage.errors import Conflict
from kubevirt.apiserver.storage.records import Entry

Object = dict[str, Any]

ATTEMPTS: Final = 5
FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"
_FINALIZER_OF: Final = {"Foreground": FOREGROUND, "Orphan": ORPHAN}


async def delete(
    registry: Registry, call: Call, body: Object | None, *, is_admitted: bool = True
) -> Result:
    """Nobody is asked about a deletion that follows from what they were asked about: an eviction is one
    that is not `is_admitted`.
    """
    wanted = options.of_delete(call, body)
    for _ in range(ATTEMPTS):
        entry, old = await registry.read(call)
        check_identity(call, old, wanted)
        if is_admitted:
            await registry.admission.delete(_review(call, old, wanted))
        try:
            return await _deleted(registry, call, entry, old, wanted)
        except Conflict:
            continue
    raise refusals.modified(call.kind, call.name)


def _review(call: Call, old: Object, wanted: DeleteOptions) -> Review:
    return Review(
        call=call,
        operation="DELETE",
        old=old,
        dry_run=wanted.dry_run,
        options=wanted.document,
    )


def check_identity(call: Call, old: Object, wanted: DeleteOptions) -> None:
    uid, version = old["metadata"]["uid"], old["metadata"]["resourceVersion"]
    if wanted.uid and wanted.uid != uid:
        raise _another(call, "UID", wanted.uid, uid)
    if wanted.resource_version and wanted.resource_version != version:
        raise _another(call, "ResourceVersion", wanted.resource_version, version)


_MIGHT_HAVE_BEEN: Final = {"UID": "deleted and then recreated", "ResourceVersion": "modified"}


def _another(call: Call, what: str, wanted: str, found: str) -> Refusal:
    """Said about the kind, not about the resource, unlike other conflicts; but for namespaces."""
    kind = call.kind
    if kind.group_resource == "namespaces":
        there = f"{what} in precondition: {wanted}, {what} in object meta: {found}"
        return refusals.conflict(kind, call.name, f"Precondition failed: {there}")
    words = (
        f"the {what} in the precondition ({wanted}) does not match the {what} in record ({found}). "
        f"The object might have been {_MIGHT_HAVE_BEEN[what]}"
    )
    subject = f"{kind.names.kind}.{kind.group}" if kind.group else kind.names.kind
    details = StatusDetails(name=call.name, group=kind.group, kind=kind.names.kind)
    message = f'Operation cannot be fulfilled on {subject} "{call.name}": {words}'
    return refusal(409, "Conflict", message, details=details)


async def _deleted(
    registry: Registry, call: Call, entry: Entry, old: Object, wanted: DeleteOptions
) -> Result:
    served = registry.served(call.kind)
    new = _marked(registry, served, old, wanted)
    if new is None:
        if not wanted.dry_run:
            await registry.store.delete(entry)
        if served.rules.is_returned_when_deleted:
            return One(value=entry.value, revision=entry.revision)
        return _gone(call, old)
    if is_same(old, new):
        return One(value=entry.value, revision=entry.revision)
    value = stored.encoded(new)
    if wanted.dry_run:
        return One(value=value, revision=entry.revision)
    changed = await registry.store.update(entry, value)
    return One(value=value, revision=changed.revision)


def _marked(
    registry: Registry, served: Served, old: Object, wanted: DeleteOptions
) -> Object | None:
    """The object that waits for its end; None if there is nothing to wait for."""
    metadata = old["metadata"]
    finalizers = _finalizers(served, old, wanted.policy)
    held = {**old, "metadata": {**metadata, "finalizers": finalizers}}
    grace_s = served.rules.grace_s(old, wanted.grace_s)
    is_held = served.rules.is_held(held)
    if not is_held and not grace_s:
        return None
    if not finalizers:
        del held["metadata"]["finalizers"]
    if metadata.get("deletionTimestamp"):
        remaining = metadata.get("deletionGracePeriodSeconds") or 0
        if grace_s is None or grace_s >= remaining:
            return held
    return served.rules.marked(_ending(registry, served, held, grace_s or 0))


def _ending(registry: Registry, served: Served, object_: Object, grace_s: int) -> Object:
    end = registry.clock.now() + _duration(grace_s)
    metadata = {
        **object_["metadata"],
        "deletionTimestamp": end.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "deletionGracePeriodSeconds": grace_s,
    }
    if served.rules.has_generation:
        metadata["generation"] = metadata.get("generation", 0) + 1
    return {**object_, "metadata": metadata}


def _duration(seconds: int) -> timedelta:
    """As Go counts, in nanoseconds of 64 bits: beyond three hundred years it begins anew."""
    nanoseconds = (seconds * 10**9 + 2**63) % 2**64 - 2**63
    return timedelta(microseconds=nanoseconds // 1000)


def _finalizers(served: Served, object_: Object, policy: str) -> list[str]:
    """Those that are there, with the one for what shall become of dependants."""
    present = list(object_["metadata"].get("finalizers") or [])
    present += [each for each in served.rules.held_by_server(object_) if each not in present]
    if not policy:
        return present
    wanted = _FINALIZER_OF.get(policy, "")
    kept = [each for each in present if each not in _FINALIZER_OF.values()]
    return [*kept, wanted] if wanted else kept


def _gone(call: Call, old: Object) -> Plain:
    details = {
        "name": old["metadata"]["name"],
        **({"group": call.kind.group} if call.kind.group else {}),
        "kind": call.kind.names.plural,
        "uid": old["metadata"]["uid"],
    }
    return Plain(
        document={
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": details,
        }
    )


async def delete_collection(registry: Registry, call: Call, body: Object | None) -> Flowing:
    """Each as if it were deleted alone. What others deleted meanwhile is as good.

    For the answer they are read once more, as they were: however many there are, few are in memory.
    """
    wanted = options.of_delete(call, body)
    part = await reading.part(registry, call)
    async with aclosing(reading.flowing(registry, part).pieces) as pieces:
        async for entries in pieces:
            for entry in entries:
                await delete_entry(registry, call, entry, wanted)
    return reading.flowing(registry, part)


async def delete_entry(
    registry: Registry,
    call: Call,
    entry: Entry | None,
    wanted: DeleteOptions,
    *,
    is_admitted: bool = True,
) -> None:
    """Whatever it is by now. What goes with its CRD is not `is_admitted`."""
    while entry is not None:
        old = stored.object_of(entry, call.api_version)
        if is_admitted:
            await registry.admission.delete(_review(call, old, wanted))
        try:
            await _deleted(registry, call, entry, old, wanted)
        except Conflict as conflict:
            entry = conflict.current
        else:
            return
