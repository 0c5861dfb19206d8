"""JSON patch (RFC 6902), as Kubernetes runs it.

Not by the `jsonpatch` package, which follows the RFC where Kubernetes' library does not: there,
`replace` of a field that is missing adds it, a negative index counts from the end, `test` finds null
where nothing is, and a `copy` of nothing copies null. Clients have come to rely on it.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import Struct

from kubevirt.apiserver.patch.errors import BadPatch, PatchDoesNotApply, PatchTooLarge
from kubevirt.apiserver.schema.gotext import kind_of
from kubevirt.apiserver.schema.plain import is_same

MAX_OPERATIONS: Final = 10_000
MAX_COPIED_BYTES: Final = 3 * 1024 * 1024
"""By all `copy` operations of a patch: doubling is quick."""

_FIELDS: Final = ("op", "path", "from", "value")


class Operation(Struct, frozen=True):
    op: str = ""
    path: str | None = None
    source: str | None = None
    value: Any = None


class JsonPatch(Struct, frozen=True):
    operations: tuple[Operation, ...]
    unknown: tuple[str, ...] = ()
    """Fields of operations that nobody knows, for strict decoding: `json patch unknown field "…"`."""


def parse(patch: Any) -> JsonPatch:
    """Raises `BadPatch`, `PatchTooLarge`."""
    if patch is None:  # a list without an element, for Go
        return JsonPatch(())
    if not isinstance(patch, list):
        raise _cannot_read(patch, "Go value of type []handlers.jsonPatchOp")
    if len(patch) > MAX_OPERATIONS:
        raise PatchTooLarge(
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(patch)}"
        )
    unknown = []
    operations = []
    for index, each in enumerate(patch):
        if not isinstance(each, dict):
            raise _cannot_read(each, "Go value of type handlers.jsonPatchOp")
        for name in ("op", "path", "from"):
            if not isinstance(each.get(name, ""), str | None):
                raise _cannot_read(each[name], f"Go struct field jsonPatchOp.{name} of type string")
        unknown += [f"[{index}].{name}" for name in each if name not in _FIELDS]
        operations.append(
            Operation(each.get("op") or "", each.get("path"), each.get("from"), each.get("value"))
        )
    return JsonPatch(tuple(operations), tuple(unknown))


def _cannot_read(value: Any, into: str) -> BadPatch:
    return BadPatch(f"error decoding patch: json: cannot unmarshal {kind_of(value)} into {into}")


def apply(object_: Any, patch: JsonPatch) -> Any:
    """Raises `PatchDoesNotApply`; its cause says why, in the words of Kubernetes' library."""
    document = _Document(object_)
    for operation in patch.operations:
        try:
            document.run(operation)
        except _NoWay:
            raise PatchDoesNotApply from _Misfit(_no_way(operation))
        except _Misfit as error:
            raise PatchDoesNotApply from error
    return document.root


class _Misfit(Exception):  # noqa: N818  # it is what was found
    pass


class _NoWay(_Misfit):
    """A path leads through what is not there."""


def _no_way(operation: Operation) -> str:
    op, path, source = operation.op, operation.path, operation.source
    missing = {
        "replace": f"doc is missing path: {path}",
        "test": f"is missing path: {path}",
        "copy": f"doc is missing from path: {source}",
        "move": f"doc is missing from path: {source}",
    }.get(op, f'doc is missing path: "{path}"')
    return f"{op} operation does not apply: {missing}: missing value"


class _Document:
    """The object while it is patched. Containers are copied before they are first changed."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self._own: set[int] = set()
        self._keep: list[Any] = []
        self._copied = 0

    def run(self, operation: Operation) -> None:
        run = _RUN.get(operation.op)
        if run is None:
            raise _Misfit(f"Unexpected kind: {operation.op}")
        if operation.path is None:
            raise _Misfit(f"{operation.op} operation failed to decode path: missing value")
        run(self, operation.path, operation)

    def add(self, path: str, operation: Operation) -> None:
        self._insert(path, operation.value)

    def remove(self, path: str, operation: Operation) -> None:
        container, key = self._container(path)
        if isinstance(container, list):
            del container[_place(key, len(container))]
        elif key not in container:
            shown = key if operation.op == "move" else path
            words = f"Unable to remove nonexistent key: {key}: missing value"
            raise _Misfit(f"error in {operation.op} for path: '{shown}': {words}")
        else:
            del container[key]

    def replace(self, path: str, operation: Operation) -> None:
        if path == "":
            if isinstance(operation.value, dict | list):
                self.root = operation.value
            return
        container, key = self._container(path)
        if isinstance(container, list):
            container[_place(key, len(container))] = operation.value
        else:
            container[key] = operation.value

    def move(self, path: str, operation: Operation) -> None:
        source = _source(operation)
        value = self._find(source)
        self.remove(source, operation)
        self._insert(path, value)

    def copy(self, path: str, operation: Operation) -> None:
        text = msgspec.json.encode(self._find(_source(operation)))
        self._copied += len(text)
        if self._copied > MAX_COPIED_BYTES:
            raise _Misfit("copies become too large")
        # Decoded again, it shares nothing with its source, which may be around it.
        self._insert(path, msgspec.json.decode(text))

    def test(self, path: str, operation: Operation) -> None:
        value = self.root if path == "" else self._find(path)
        if not is_same(value, operation.value):
            raise _Misfit(f"testing value {path} failed: test failed")

    def _insert(self, path: str, value: Any) -> None:
        container, key = self._container(path)
        if isinstance(container, dict):
            container[key] = value
        elif key == "-":
            container.append(value)
        else:
            container.insert(_place(key, len(container) + 1), value)

    def _find(self, path: str) -> Any:
        """Null where a field is missing; a place in a list must be there."""
        container, key = self._container(path)
        if isinstance(container, list):
            return container[_place(key, len(container))]
        return container.get(key)

    def _container(self, path: str) -> tuple[Any, str]:
        """The container that the last step of a path is in, ready to be changed."""
        start, *steps = path.split("/")
        if start or not steps:
            raise _NoWay
        self.root = container = self._owned(self.root)
        for step in map(_unescaped, steps[:-1]):
            if isinstance(container, list):
                place = _place(step, len(container))
                container[place] = below = self._owned(container[place])
            elif step in container:
                container[step] = below = self._owned(container[step])
            else:
                raise _NoWay
            container = below
        return container, _unescaped(steps[-1])

    def _owned(self, container: Any) -> Any:
        if id(container) in self._own:
            return container
        if isinstance(container, dict):
            made: Any = dict(container)
        elif isinstance(container, list):
            made = list(container)
        else:
            raise _NoWay
        self._own.add(id(made))
        self._keep.append(made)  # so that its identity is not given to another
        return made


_RUN: Final[dict[str, Callable[[_Document, str, Operation], None]]] = {
    "add": _Document.add,
    "remove": _Document.remove,
    "replace": _Document.replace,
    "move": _Document.move,
    "copy": _Document.copy,
    "test": _Document.test,
}


def _source(operation: Operation) -> str:
    if operation.source is None:
        raise _Misfit("operation, missing from field")
    return operation.source


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


def _place(text: str, size: int) -> int:
    """From the end where it is negative."""
    try:
        place = int(text) if text.isascii() and "_" not in text and text == text.strip() else None
    except ValueError:
        place = None
    if place is None or not -size <= place < size:
        raise _Misfit(f"Unable to access invalid index: {text}")
    return place % size
