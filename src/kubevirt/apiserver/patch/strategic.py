"""Strategic merge patch: maps merge, and so do lists whose schema has a merge strategy.

    merge(pod, {"spec": {"containers": [{"name": "main", "image": "new"}]}}, pod_schema)

For built-in kinds only: their schemas say for each list whether it merges and by which key. A patch
may contain directives: `$patch` (replace, delete), `$setElementOrder/<list>`,
`$deleteFromPrimitiveList/<list>`, `$retainKeys`.
"""

from collections.abc import Callable
from typing import Any, Final

from kubevirt.apiserver.patch.errors import BadPatch, PatchDoesNotApply, PatchFailed
from kubevirt.apiserver.schema import gotext
from kubevirt.apiserver.schema.plain import is_same
from kubevirt.apiserver.schema.structural import Schema

_DIRECTIVE: Final = "$patch"
_RETAIN_KEYS: Final = "$retainKeys"
_DELETE_PREFIX: Final = "$deleteFromPrimitiveList"
_ORDER_PREFIX: Final = "$setElementOrder"

_BAD_PRIMITIVE_LIST: Final = "invalid patch format of primitive list"
_BAD_RETAIN_KEYS: Final = "invalid patch format of retainKeys"
_BAD_ORDER: Final = "invalid patch format of setElementOrder list"

Object = dict[str, Any]


def merge(object_: Object, patch: Any, schema: Schema) -> Object:
    """Raises `BadPatch`, `PatchDoesNotApply`, `PatchFailed`."""
    if patch is None:  # a map without a field, for Go
        return object_
    if not isinstance(patch, dict):
        kind = gotext.kind_of(patch)
        raise BadPatch(
            f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
        )
    return _merge_maps(object_, patch, schema)


def _merge_maps(old: Object, patch: Object, schema: Schema | None) -> Object:
    if _DIRECTIVE in patch:
        return _directed(patch)
    merged = dict(old)
    patch = dict(patch)
    _retain_keys(merged, patch)
    _put_in_order(merged, patch, schema)
    for name, value in patch.items():
        is_deletion = name.startswith(_DELETE_PREFIX)
        field = _after(name, _DELETE_PREFIX, _BAD_PRIMITIVE_LIST) if is_deletion else name
        if value is None:
            merged.pop(field, None)
        elif field in merged and merged[field].__class__ is value.__class__:
            below = schema.for_field(field) if schema else None
            merged[field] = _merge_values(
                merged[field], value, below, _struct(schema, field), is_deletion=is_deletion
            )
        elif not is_deletion:
            taken = _taken(_without_nulls(value))
            merged.pop(field, None)
            if taken is not _NOTHING:
                merged[field] = taken
    return merged


def _merge_values(
    old: Any, value: Any, schema: Schema | None, struct: str, *, is_deletion: bool
) -> Any:
    strategy = _strategy(schema)
    if isinstance(old, dict):
        return value if strategy == "replace" else _merge_maps(old, value, schema)
    if isinstance(old, list):
        if strategy != "merge" and not is_deletion:
            return value
        return _merge_lists(old, value, schema, struct, is_deletion=is_deletion)
    return value


def _strategy(schema: Schema | None) -> str:
    """`retainKeys` is only about what clients send."""
    others = [each for each in (schema.patch_strategy if schema else ()) if each != "retainKeys"]
    return others[0] if others else ""


def _struct(schema: Schema | None, field: str) -> str:
    below = schema.for_field(field) if schema else None
    return below.items.name if below and below.items else ""


def _directed(patch: Object) -> Object:
    match patch[_DIRECTIVE]:
        case "replace":
            return {name: value for name, value in patch.items() if name != _DIRECTIVE}
        case "delete":
            return {}
        case other:
            raise _unknown_directive(other, patch)


def _unknown_directive(directive: Any, patch: Object) -> PatchFailed:
    return PatchFailed(f"unknown patch type: {directive} in map: {gotext.shown(patch)}")


def _retain_keys(merged: Object, patch: Object) -> None:
    if _RETAIN_KEYS not in patch:
        return
    retained = patch.pop(_RETAIN_KEYS)
    if not isinstance(retained, list):
        raise BadPatch(_BAD_RETAIN_KEYS)
    for name, value in patch.items():
        is_directive = name.startswith((_DELETE_PREFIX, _ORDER_PREFIX))
        if value is not None and not is_directive and name not in retained:
            raise BadPatch(_BAD_RETAIN_KEYS)
    for name in list(merged):
        if name not in retained:
            del merged[name]


def _put_in_order(merged: Object, patch: Object, schema: Schema | None) -> None:
    """Merges lists for which an order is given; they are then out of the patch."""
    for directive in [name for name in patch if name.startswith(_ORDER_PREFIX)]:
        order = patch.pop(directive)
        field = _after(directive, _ORDER_PREFIX, _BAD_ORDER)
        if not isinstance(order, list):
            raise _wrong_kind("[]interface {}", order)
        below = schema.for_field(field) if schema else None
        key = below.patch_merge_key if below else ""
        old, said = merged.get(field), patch.pop(field, None)
        for each in (old, said):
            if each is not None and not isinstance(each, list):
                raise _wrong_kind("[]interface {}", each)
        _refuse_other_order(said or [], order, key)
        if old is None and said is None:
            continue
        if old is None:
            together = _taken(said)
        elif said is None:
            together = old
        else:
            together = _merge_values(old, said, below, _struct(schema, field), is_deletion=False)
        merged[field] = _ordered(together, order, old or [], key)


def _refuse_other_order(said: list[Any], order: list[Any], key: str) -> None:
    """Items of the patch must be in the order, and in the same order."""
    if not order:
        return
    said = [item for item in said if not (key and _is_deleted(item))]
    place = 0
    for wanted in order:
        if place < len(said) and _identity(said[place], key) == _identity(wanted, key):
            place += 1
    if place < len(said):
        raise PatchFailed(
            f"The order in patch list:\n{gotext.shown(said)}\n"
            f" doesn't match {_ORDER_PREFIX} list:\n{gotext.shown(order)}\n"
        )


def _merge_lists(
    old: list[Any], patch: list[Any], schema: Schema | None, struct: str, *, is_deletion: bool
) -> list[Any]:
    if not old and not patch:
        return old
    if not _holds_maps(old, patch):
        if is_deletion:
            return [item for item in old if not any(is_same(item, gone) for gone in patch)]
        together = list(old)
        together += [item for item in patch if not any(is_same(item, one) for one in old)]
        return _ordered(_once(together), patch, old, "")
    key = schema.patch_merge_key if schema else ""
    if not key:
        raise PatchFailed(f"cannot merge lists without merge key for {struct}")
    old, patch = _without_directives(old, patch, key)
    items = schema.items if schema else None
    merged = list(old)
    for item in patch:
        identity = _identity(item, key)
        place = next((i for i, one in enumerate(merged) if _maybe(one, key) == identity), None)
        if place is None:
            merged.append(item)
        else:
            merged[place] = _merge_maps(merged[place], item, items)
    return _ordered(merged, patch, old, key)


def _holds_maps(old: list[Any], patch: list[Any]) -> bool:
    kinds = {item.__class__ for item in (*old, *patch)}
    if list in kinds:
        raise PatchDoesNotApply from ValueError("lists of lists are not supported")
    if len(kinds) > 1:
        words = gotext.shown([old, patch])
        raise PatchFailed(f"list element types are not identical: {words}")
    return dict in kinds


def _without_directives(old: list[Any], patch: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    plain = []
    replaces = False
    for item in patch:
        match item.get(_DIRECTIVE):
            case None if _DIRECTIVE not in item:
                plain.append(item)
            case "delete":
                gone = _identity(item, key)
                old = [one for one in old if _maybe(one, key) != gone]
            case "replace":
                replaces = True
            case "merge":
                raise PatchFailed("merging lists cannot yet be specified in the patch")
            case other:
                raise _unknown_directive(other, item)
    return (plain, []) if replaces else (old, plain)


def _ordered(items: list[Any], wanted: list[Any], live: list[Any], key: str) -> list[Any]:
    """Those of the patch in its order; the others keep their place before what followed them."""
    wanted_places = {
        _identity(item, key): place for place, item in reversed(list(enumerate(wanted)))
    }
    live_places = {_maybe(item, key): place for place, item in reversed(list(enumerate(live)))}
    ours: list[Any] = []
    theirs: list[Any] = []
    for item in items:
        (ours if _identity(item, key) in wanted_places else theirs).append(item)
    ours.sort(key=lambda item: wanted_places[_identity(item, key)])
    theirs.sort(key=lambda item: live_places.get(_identity(item, key), -1))
    return _interleaved(theirs, ours, lambda item: live_places.get(_identity(item, key)))


def _interleaved(
    theirs: list[Any], ours: list[Any], place: Callable[[Any], int | None]
) -> list[Any]:
    made: list[Any] = []
    left, right = 0, 0
    while left < len(theirs) and right < len(ours):
        before, after = place(theirs[left]), place(ours[right])
        if before is not None and after is not None and before < after:
            made.append(theirs[left])
            left += 1
        else:
            made.append(ours[right])
            right += 1
    return made + theirs[left:] + ours[right:]


_NOTHING: Final = object()


def _taken(value: Any) -> Any:
    """A value of the patch that meets nothing: without what is only a directive."""
    if isinstance(value, dict):
        if _DIRECTIVE in value:
            return _NOTHING
        kept = ((name, _taken(child)) for name, child in value.items())
        return {name: child for name, child in kept if child is not _NOTHING}
    if isinstance(value, list):
        return [item for item in map(_taken, value) if item is not _NOTHING]
    return value


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(child) for name, child in value.items() if child is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _once(items: list[Any]) -> list[Any]:
    return list({_identity(item, ""): item for item in items}.values())


def _is_deleted(item: Any) -> bool:
    return isinstance(item, dict) and item.get(_DIRECTIVE) == "delete"


def _identity(item: Any, key: str) -> str:
    """What an item is known by. Raises where it has no key."""
    if not key:
        return gotext.json(item)
    if not isinstance(item, dict):
        raise _wrong_kind("map[string]interface {}", item)
    if key not in item:
        raise PatchFailed(f"map: {gotext.shown(item)} does not contain declared merge key: {key}")
    return gotext.json(item[key])


def _maybe(item: Any, key: str) -> str | None:
    """The same of an item of the object, which may lack it."""
    if not key:
        return gotext.json(item)
    return gotext.json(item[key]) if isinstance(item, dict) and key in item else None


def _after(name: str, prefix: str, complaint: str) -> str:
    found, slash, field = name.partition("/")
    if found != prefix or not slash:
        raise BadPatch(complaint)
    return field


def _wrong_kind(expected: str, value: Any) -> PatchFailed:
    return PatchFailed(f"expected a {expected}, but received a {gotext.type_of(value)}")
