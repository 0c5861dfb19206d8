"""The scale of a custom resource: how many there shall be, without the rest of the object."""

from typing import Any

from kubevirt.apiserver import refusals
from kubevirt.apiserver.kinds.custom import Scale
from kubevirt.apiserver.patch import json_patch, merge
from kubevirt.apiserver.patch.errors import BadPatch, PatchDoesNotApply
from kubevirt.apiserver.refusals import Refusal, bad_request, refusal
from kubevirt.apiserver.registry import changing, options
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.incoming import Body, cause
from kubevirt.apiserver.registry.patching import APPLY_PATCH, JSON_PATCH, MERGE_PATCH
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.results import One, Plain
from kubevirt.apiserver.registry.stored import decoded
from kubevirt.apiserver.schema.field_errors import invalid
from kubevirt.apiserver.storage.errors import Conflict

Object = dict[str, Any]

_SHOWN = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def _paths(registry: Registry, call: Call) -> Scale:
    found = registry.catalog.scale(call.kind, call.version)
    if found is None:
        raise refusals.no_such_path()
    return found


async def get(registry: Registry, call: Call) -> Plain:
    _, object_ = await registry.read(call)
    return Plain(document=_shown(object_, _paths(registry, call)))


async def update(registry: Registry, call: Call, body: Body) -> Plain:
    if not isinstance(body.value, dict):
        raise bad_request("the body of the request is no Scale")
    return await _write(registry, call, lambda _: body.value)


async def patch(registry: Registry, call: Call, media: str, body: Body) -> Plain:
    def patched(scale: Object) -> Any:
        if media == JSON_PATCH:
            return json_patch.apply(scale, json_patch.parse(body.value))
        return merge.merge(scale, body.value)

    if media == APPLY_PATCH:
        await registry.read(call)
        raise _not_applied()
    if media not in (JSON_PATCH, MERGE_PATCH):
        raise refusals.unsupported_media_type((JSON_PATCH, MERGE_PATCH, APPLY_PATCH))
    return await _write(registry, call, patched)


def _not_applied() -> Refusal:
    """Kubernetes cannot apply the scale of a custom resource either; these are its words."""
    words = "request to convert CR to an invalid group/version: autoscaling/v1"
    live = "failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version"
    return refusal(500, "", f"failed to create manager for existing fields: {live}: {words}")


async def _write(registry: Registry, call: Call, change: Any) -> Plain:
    wanted = options.of_write(call)
    paths = _paths(registry, call)
    part = changing.Part(
        of=lambda whole: _shown(whole, paths),
        put=lambda whole, scale: _with(whole, paths.spec, _replicas(call, scale, paths)),
    )
    for _ in range(changing.ATTEMPTS):
        entry, old = await registry.read(call)
        try:
            said = change(_shown(old, paths))
        except BadPatch as error:
            raise bad_request(str(error)) from error
        except PatchDoesNotApply as error:
            raise refusal(422, "Invalid", str(error)) from error
        version = (said.get("metadata") or {}).get("resourceVersion")
        if version and version != old["metadata"]["resourceVersion"]:
            raise refusals.modified(call.kind, call.name)
        new = part.put(old, said)
        try:
            made = await changing.store_change(registry, call, new, entry, wanted, part=part)
        except Conflict:
            continue
        return Plain(document=_shown(_whole(call, made), paths))
    raise refusals.modified(call.kind, call.name)


def _whole(call: Call, made: One) -> Object:
    return decoded(made.value, made.revision, call.api_version)


def _replicas(call: Call, said: Object, paths: Scale) -> int:
    replicas = (said.get("spec") or {}).get("replicas", 0)
    if not isinstance(replicas, int):
        raise bad_request("Scale cannot be read: spec.replicas is no integer")
    if replicas < 0:
        at = "." + ".".join(paths.spec)
        wrong = invalid(at, replicas, "should be a non-negative integer")
        raise refusals.invalid(call.kind, call.name, [cause(wrong)])
    return replicas


def _shown(object_: Object, paths: Scale) -> Object:
    metadata = object_["metadata"]
    status: Object = {"replicas": _at(object_, paths.status) or 0}
    if paths.selector and (selector := _at(object_, paths.selector)):
        status["selector"] = selector
    replicas = _at(object_, paths.spec)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in _SHOWN if name in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def wanted(object_: Object, paths: Scale) -> int:
    """How many there shall be."""
    return _at(object_, paths.spec) or 0


def _at(object_: Object, path: tuple[str, ...]) -> Any:
    found: Any = object_
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    return found


def _with(object_: Object, path: tuple[str, ...], value: int) -> Object:
    first, *rest = path
    if not rest:
        return {**object_, first: value}
    below = object_.get(first)
    return {**object_, first: _with(below if isinstance(below, dict) else {}, tuple(rest), value)}
