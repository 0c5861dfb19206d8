"""The scale of a custom resource: how many there shall be, without the rest of the object."""

from collections.abc import Callable
from typing import Any, Final

from kubevirt.apiserver import refusals
from kubevirt.apiserver.kinds.custom import Scale
from kubevirt.apiserver.patch import json_patch, merge
from kubevirt.apiserver.patch.errors import BadPatch, PatchDoesNotApply
from kubevirt.apiserver.refusals import Refusal, bad_request, refusal
from kubevirt.apiserver.registry import changing, incoming, options, unfit, versions
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.incoming import Body, cause
from kubevirt.apiserver.registry.patching import APPLY_PATCH, JSON_PATCH, MERGE_PATCH
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.apiserver.registry.results import One, Plain
from kubevirt.apiserver.registry.stored import decoded
from kubevirt.apiserver.schema.field_errors import invalid
from kubevirt.apiserver.schema.metadata import Undecodable
from kubevirt.apiserver.storage.errors import Conflict

Object = dict[str, Any]

_API_VERSION: Final = "autoscaling/v1"
_KIND: Final = "Scale"
_NOT_SET: Final = -(2**31)
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
    said = _read(body)
    incoming.check_name(call, said)
    return await _write(registry, call, lambda _: said)


def _read(body: Body) -> Object:
    """Whatever is wrong with one, Kubernetes says that it does not know the type."""
    words = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:110"'
    try:
        return incoming.read_below(body, _API_VERSION, _KIND)
    except Refusal as refused:
        raise bad_request(words) from refused


async def patch(registry: Registry, call: Call, media: str, body: Body) -> Plain:
    def patched(scale: Object) -> Object:
        if media == JSON_PATCH:
            made = json_patch.apply(scale, json_patch.parse(body.value))
        else:
            made = merge.merge(scale, body.value)
        return _read_patched(call, made)

    if media == APPLY_PATCH:
        await registry.read(call)
        raise _not_applied()
    if media not in (JSON_PATCH, MERGE_PATCH):
        raise refusals.unsupported_media_type((JSON_PATCH, MERGE_PATCH, APPLY_PATCH))
    return await _write(registry, call, patched)


def _read_patched(call: Call, made: Any) -> Object:
    blame = unfit.of_result(made)
    if not isinstance(made, dict):
        raise blame(incoming.no_map(made))
    version, kind = made.get("apiVersion"), made.get("kind")
    if (version, kind) != (_API_VERSION, _KIND):
        raise blame(incoming.unregistered(str(version), str(kind)))
    try:
        said = incoming.as_struct(made, _API_VERSION, _KIND)
    except Undecodable as error:
        raise blame(str(error)) from error
    incoming.check_name(call, said)
    return said


def _not_applied() -> Refusal:
    """Kubernetes cannot apply the scale of a custom resource either; these are its words."""
    words = "request to convert CR to an invalid group/version: autoscaling/v1"
    live = "failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version"
    return refusal(500, "", f"failed to create manager for existing fields: {live}: {words}")


async def _write(registry: Registry, call: Call, change: Callable[[Object], Object]) -> Plain:
    wanted = options.of_write(call)
    paths = _paths(registry, call)
    part = changing.Part(
        of=lambda whole: _shown(whole, paths),
        put=lambda whole, scale: _with(whole, paths.spec, _replicas(call, scale, paths)),
    )
    for _ in range(changing.ATTEMPTS):
        entry, old = await registry.read(call)
        try:
            said = change(_to_patch(old, paths))
        except BadPatch as error:
            raise bad_request(str(error)) from error
        except PatchDoesNotApply as error:
            raise refusal(422, "Invalid", str(error)) from error
        versions.check(call, said, old)
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
    replicas: int = (said.get("spec") or {}).get("replicas", 0)
    if replicas == _NOT_SET:
        raise bad_request(f'the spec replicas field "{_dotted(paths.spec)}" cannot be empty')
    if replicas < 0:
        wrong = invalid(_dotted(paths.spec), replicas, "should be a non-negative integer")
        raise refusals.invalid(call.kind, call.name, [cause(wrong)])
    return replicas


def _dotted(path: tuple[str, ...]) -> str:
    return "." + ".".join(path)


def _to_patch(object_: Object, paths: Scale) -> Object:
    """What nobody has set has to be set by whoever writes."""
    shown = _shown(object_, paths)
    if _at(object_, paths.spec) is None:
        return {**shown, "spec": {"replicas": _NOT_SET}}
    return shown


def _shown(object_: Object, paths: Scale) -> Object:
    metadata = object_["metadata"]
    status: Object = {"replicas": _at(object_, paths.status) or 0}
    if paths.selector and (selector := _at(object_, paths.selector)):
        status["selector"] = selector
    replicas = _at(object_, paths.spec)
    return {
        "kind": _KIND,
        "apiVersion": _API_VERSION,
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
