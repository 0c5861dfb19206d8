"""patch: a change to whatever the object is now, in one of four languages.

All but apply are made into the whole object, which then goes the way of an update. A patch that names
no resourceVersion is tried again when somebody was quicker.
"""

from collections.abc import Callable
from typing import Any, Final

from kubevirt.api.meta import StatusCause, StatusDetails
from kubevirt.apiserver import refusals
from kubevirt.apiserver.apply import writes
from kubevirt.apiserver.apply.conflicts import ApplyConflicts
from kubevirt.apiserver.apply.writes import BadApply
from kubevirt.apiserver.patch import json_patch, merge, strategic
from kubevirt.apiserver.patch.errors import BadPatch, PatchDoesNotApply, PatchFailed, PatchTooLarge
from kubevirt.apiserver.patch.json_patch import JsonPatch
from kubevirt.apiserver.refusals import Refusal, refusal
from kubevirt.apiserver.registry import (
    changing,
    creating,
    incoming,
    options,
    stored,
    unfit,
    versions,
)
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.incoming import Body
from kubevirt.apiserver.registry.options import WriteOptions
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.results import One
from kubevirt.apiserver.schema import decoding
from kubevirt.apiserver.schema.structural import Schema
from kubevirt.apiserver.storage.errors import Conflict

Object = dict[str, Any]

JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"
APPLY_PATCH: Final = "application/apply-patch+yaml"
PATCHES: Final = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)
_CUSTOM_PATCHES: Final = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
ATTEMPTS: Final = 5


def check_media(call: Call, media: str) -> None:
    """Before the body is looked at."""
    if call.kind.is_custom and media not in _CUSTOM_PATCHES:
        raise refusals.unsupported_media_type(_CUSTOM_PATCHES)
    if media not in PATCHES:
        words = "415: Unsupported Media Type"
        raise refusal(415, "UnsupportedMediaType", words, details=StatusDetails())


async def patch(registry: Registry, call: Call, media: str, body: Body) -> One:
    if media == APPLY_PATCH:
        return await _apply(registry, call, body)
    wanted = options.of_write(call)
    change = _change(
        media, body, registry.served(call.kind).shape(call.version).schema, call, wanted
    )
    blame = unfit.of_strategic_patch(body.value) if media == STRATEGIC_PATCH else None
    for _ in range(ATTEMPTS):
        entry, old = await registry.read(call)
        new = _patched(registry, call, change, old, body, wanted, blame)
        try:
            return await changing.store_change(registry, call, new, entry, wanted)
        except Conflict:
            continue
    raise refusals.modified(call.kind, call.name)


def _change(
    media: str, body: Body, schema: Schema, call: Call, wanted: WriteOptions
) -> Callable[[Object], Any]:
    """What the patch does to an object."""
    match media:
        case "application/merge-patch+json":
            return lambda old: merge.merge(old, body.value)
        case "application/strategic-merge-patch+json":
            return lambda old: strategic.merge(old, body.value, schema)
    try:
        operations = json_patch.parse(body.value)
    except BadPatch as error:
        raise refusals.bad_request(str(error)) from error
    except PatchTooLarge as error:
        raise refusal(413, error.reason, str(error)) from error
    _hear_of_strangers(call, operations.unknown, wanted)
    return lambda old: _operated(old, operations)


def _operated(old: Object, operations: JsonPatch) -> Any:
    """Operations can build piece by piece what no body may hold."""
    too_deep = BadPatch("error decoding patch: exceeded max depth")
    try:
        made = json_patch.apply(old, operations)
    except RecursionError as error:
        raise too_deep from error
    if decoding.is_deep(made):
        raise too_deep
    return made


def _hear_of_strangers(call: Call, unknown: tuple[str, ...], wanted: WriteOptions) -> None:
    if not unknown or wanted.validation == "Ignore":
        return
    words = [f'json patch unknown field "{path}"' for path in unknown]
    if wanted.validation == "Strict":
        raise refusals.bad_request(f"strict decoding error: {', '.join(words)}")
    call.warnings += words


def _patched(
    registry: Registry,
    call: Call,
    change: Callable[[Object], Any],
    old: Object,
    body: Body,
    wanted: WriteOptions,
    blame: Callable[[str], Refusal] | None,
) -> Object:
    try:
        made = change(old)
    except BadPatch as error:
        raise refusals.bad_request(str(error)) from error
    except PatchDoesNotApply as error:
        details = StatusDetails()
        raise refusal(422, "Invalid", str(error), details=details) from error
    except PatchFailed as error:
        raise refusal(500, error.reason, str(error)) from error
    shape = registry.served(call.kind).shape(call.version)
    whole = Body(value=made, duplicates=body.duplicates, text=body.text)
    if blame is None and not call.kind.is_custom:
        blame = unfit.of_result(made)
    new = incoming.read(call, shape, whole, wanted, unfit=blame)
    incoming.check_name(call, new)
    new = incoming.stand_in_namespace(call, new)
    versions.check(call, new, old)
    live = old["metadata"]["resourceVersion"]
    return {**new, "metadata": {**new["metadata"], "resourceVersion": live}}


# Apply


async def _apply(registry: Registry, call: Call, body: Body) -> One:
    wanted = options.of_write(call, is_apply=True)
    said = body.value
    if not isinstance(said, dict):
        raise refusals.bad_request("error decoding YAML: the configuration is no object")
    incoming.hear_of_strangers(call, wanted, body, (), unfit=_no_configuration)
    for _ in range(ATTEMPTS):
        entry = await registry.store.get(call.key)
        if entry is None and call.subresource:
            raise refusals.not_found(call.kind, call.name)
        old = stored.object_of(entry, call.api_version) if entry else None
        configuration = _placed(call, said, old)
        made = _merged(registry, call, configuration, old, wanted)
        if entry is None or old is None:
            versions.said_by(made)  # any will do
            return await creating.store_new(registry, call, made, wanted, is_applied=True)
        versions.check(call, configuration, old)
        try:
            return await changing.store_change(registry, call, made, entry, wanted, is_applied=True)
        except Conflict:
            continue
    raise refusals.modified(call.kind, call.name)


def _no_configuration(words: str) -> Refusal:
    words = words.removeprefix("strict decoding error: ")
    words = f"error strict decoding YAML: error converting YAML to JSON: {words}"
    return refusals.bad_request(words)


def _placed(call: Call, said: Object, old: Object | None) -> Object:
    """The configuration with the name and the namespace of the request."""
    metadata = said.get("metadata") if isinstance(said.get("metadata"), dict) else None
    metadata = metadata or {}
    name = metadata.get("name", "")
    if name and name != call.name:
        raise refusals.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({call.name})"
        )
    uid = metadata.get("uid")
    if uid and (old is None or old["metadata"]["uid"] != uid):
        found = f"the existing object has {old['metadata']['uid']}" if old else "none was found"
        words = f"uid mismatch: the provided object specified uid {uid}, and {found}"
        raise refusals.conflict(call.kind, call.name, words)
    placed = {**metadata, "name": call.name}
    if call.kind.namespaced:
        placed.setdefault("namespace", call.namespace)
    return incoming.stand_in_namespace(call, {**said, "metadata": placed})


def _merged(
    registry: Registry, call: Call, configuration: Object, old: Object | None, wanted: WriteOptions
) -> Object:
    served = registry.served(call.kind)
    try:
        made: Object = writes.apply(
            old,
            configuration,
            served.shapes.endpoint(call.version, call.subresource),
            by=wanted.manager,
            now=registry.now(),
            force=wanted.force,
            default=lambda object_: served.shape(call.version).default(object_),
        )
    except ApplyConflicts as found:
        raise _conflicts(found) from found
    except BadApply as error:
        code = 400 if error.reason else 500
        raise refusal(code, error.reason, str(error)) from error
    return made


def _conflicts(found: ApplyConflicts) -> Refusal:
    causes = tuple(
        StatusCause(reason="FieldManagerConflict", message=each.message, field=each.field)
        for each in found.conflicts
    )
    return refusal(409, "Conflict", str(found), details=StatusDetails(causes=causes))
