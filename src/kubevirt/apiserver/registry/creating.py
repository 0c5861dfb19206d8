"""create: a new object, under a name of its own."""

from typing import Any, Final

from kubevirt.apiserver import refusals
from kubevirt.apiserver.apply import writes
from kubevirt.apiserver.refusals import refusal
from kubevirt.apiserver.registry import incoming, options, preparing, stored, versions, warnings
from kubevirt.apiserver.registry.admission import Review
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.chance import PREFIX_LIMIT
from kubevirt.apiserver.registry.incoming import Body
from kubevirt.apiserver.registry.options import WriteOptions
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.results import One
from kubevirt.apiserver.storage.errors import Conflict
from kubevirt.apiserver.storage.records import Change, Entry

Object = dict[str, Any]

ATTEMPTS: Final = 8
"""To find a generated name that is free, and a namespace that holds still."""


async def create(registry: Registry, call: Call, body: Body) -> One:
    wanted = options.of_write(call)
    shape = registry.served(call.kind).shape(call.version)
    object_ = incoming.read(call, shape, body, wanted)
    return await store_new(registry, call, object_, wanted, is_versioned=versions.of_new(object_))


async def store_new(
    registry: Registry,
    call: Call,
    object_: Object,
    wanted: WriteOptions,
    *,
    is_applied: bool = False,
    is_versioned: bool = False,
) -> One:
    """`is_applied` if the owners of its fields are known already; `is_versioned` if it was sent as if it
    were there, which the store is the first to mind.
    """
    object_ = incoming.stand_in_namespace(call, object_)
    metadata = object_["metadata"]
    is_generated = bool(metadata.get("generateName")) and not metadata.get("name")
    for _ in range(ATTEMPTS):
        home = await registry.home(call, metadata.get("name", ""))
        new = await _made(registry, call, object_, wanted, is_applied=is_applied)
        if is_versioned and not wanted.dry_run:
            words = "resourceVersion should not be set on objects to be created"
            raise refusal(500, "", words)
        name = new["metadata"]["name"]
        try:
            return await _stored(registry, call, new, wanted, home)
        except Conflict as conflict:
            is_taken = home is None or conflict.key != home.key
            if is_taken and not is_generated:
                raise refusals.already_exists(call.kind, name) from conflict
    raise refusals.already_exists(call.kind, metadata.get("name") or metadata["generateName"])


async def _made(
    registry: Registry, call: Call, object_: Object, wanted: WriteOptions, *, is_applied: bool
) -> Object:
    """The object as it will be stored."""
    served = registry.served(call.kind)
    now = registry.now()
    new = served.defaulted(preparing.unborn(object_), call.version)
    if not is_applied:
        endpoint = served.shapes.endpoint(call.version, "")
        new = writes.update(None, new, endpoint, by=wanted.manager, now=now)
    review = Review(
        call=call,
        operation="CREATE",
        dry_run=wanted.dry_run,
        options=options.document(call, "CreateOptions"),
        read_again=lambda changed: incoming.stand_in_namespace(
            call, served.changed_outside(changed, call.version)
        ),
    )
    new = await registry.admission.mutate(new, review)
    name = _name(registry, new["metadata"])
    new = preparing.born(new, name=name, uid=registry.chance.uid(), now=now)
    if "status" in call.version.subresources and not served.rules.keeps_new_status:
        new = preparing.all_but_status(new, None)
    new = served.rules.prepared(new)
    if served.rules.has_generation:
        new = preparing.with_generation(new, 1)
    served.check_new(new, call.version)
    call.warnings += warnings.of_new(call.kind, new)
    await registry.admission.validate(new, review)
    return served.read_again(new, call.version) if is_applied else new


def _name(registry: Registry, metadata: Object) -> str:
    name: str = metadata.get("name", "")
    prefix: str = metadata.get("generateName", "")
    return name if name or not prefix else prefix[:PREFIX_LIMIT] + registry.chance.suffix()


async def _stored(
    registry: Registry, call: Call, new: Object, wanted: WriteOptions, home: Entry | None
) -> One:
    key = call.kind.key(call.namespace, new["metadata"]["name"])
    value = stored.encoded(new)
    if wanted.dry_run:
        if taken := await registry.store.get(key):
            raise Conflict(key, taken)
        return One(value=value, revision=0, code=201)
    changes = [Change.create(key, value)]
    if home is not None:
        # Decided together with the write: nothing comes into a namespace that is going.
        changes.append(Change.unchanged(home))
    event = (await registry.store.write(*changes))[0]
    return One(value=value, revision=event.revision if event else 0, code=201)
