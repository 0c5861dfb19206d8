"""What a version of a CRD says about its kind: columns, subresources, fields to pick by, its end.

What all versions say alike is spoken of as if it stood at the top, where it once did.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema import authoring, field_paths, gotext
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    Verbatim,
    duplicate,
    invalid,
    required,
    too_many,
)
from kubevirt.apiserver.schema.field_paths import NoSuchFieldError
from kubevirt.apiserver.schema.plain import is_same

Errors = Iterator[FieldError]

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = (
    *("byte", "date", "date-time", "double", "float", "int32", "int64", "password"),
)
_REPLICAS: Final = {"specReplicasPath": ".spec", "statusReplicasPath": ".status"}
_SELECTABLE_TYPES: Final = ("string", "boolean", "integer")
_SELECTABLE_LIMIT: Final = 8
_WARNING_LIMIT: Final = 256

_TOP: Final[Mapping[str, str]] = {
    "additionalPrinterColumns": "additionalPrinterColumns",
    "schema": "validation",
    "selectableFields": "selectableFields",
    "subresources": "subresources",
}
"""Parts of a version, and what they were called at the top."""


class Parts:
    """Of all versions, each where it is spoken of: one for all of them, or one for each."""

    def __init__(self, versions: Sequence[Object]) -> None:
        self._versions = versions
        self._shared = {
            part
            for part in _TOP
            if all(is_same(each.get(part), versions[0].get(part)) for each in versions)
        }

    def of(self, part: str) -> list[tuple[str, Any]]:
        """Those that say something, with their paths."""
        return [(path, said) for path, version in self._spoken(part) if (said := version.get(part))]

    def selectable(self) -> list[tuple[str, list[Object], Object | None]]:
        """With the schema, where Kubernetes looks for it: fields and schema have to stand at one place."""
        has_schema = ("schema" in self._shared) == ("selectableFields" in self._shared)
        return [
            (path, said, schema_of(version) if has_schema else None)
            for path, version in self._spoken("selectableFields")
            if (said := version.get("selectableFields"))
        ]

    def _spoken(self, part: str) -> list[tuple[str, Object]]:
        if part in self._shared:
            return [(f"spec.{_TOP[part]}", each) for each in self._versions[:1]]
        return [(f"spec.versions[{n}].{part}", each) for n, each in enumerate(self._versions)]


def schema_of(version: Object) -> Object | None:
    found: Object | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return found


def errors(versions: Sequence[Object]) -> Errors:
    """All but those of their names and schemas."""
    parts = Parts(versions)
    for index, version in enumerate(versions):
        yield from _of_warning(version, f"spec.versions[{index}].deprecationWarning")
    for path, below in parts.of("subresources"):
        yield from _of_scale(below.get("scale"), f"{path}.scale")
    for path, columns in parts.of("additionalPrinterColumns"):
        for index, column in enumerate(columns):
            yield from _of_column(column, f"{path}[{index}]")
    for path, fields, schema in parts.selectable():
        yield from _of_selectable(fields, schema, path)


def errors_of_schemas(versions: Sequence[Object]) -> Errors:
    for path, said in Parts(versions).of("schema"):
        if (schema := said.get("openAPIV3Schema")) is not None:
            yield from authoring.errors(schema, f"{path}.openAPIV3Schema")


def _of_warning(version: Object, at: str) -> Errors:
    words = version.get("deprecationWarning")
    if words is None:
        return
    shown = Verbatim(gotext.json(words))  # of what is behind a pointer, Go shows the JSON
    if not version.get("deprecated"):
        yield invalid(at, shown, "can only be set for deprecated versions")
        return
    if len(words.encode()) > _WARNING_LIMIT:
        yield invalid(at, shown, f"must be <= {_WARNING_LIMIT} characters long")
    if not words:
        yield invalid(at, shown, "must not be an empty string")
    if (place := _first_unprintable(words)) is not None:
        complaint = (
            "must only contain printable UTF-8 characters; non-printable character found at index"
        )
        yield invalid(at, shown, f"{complaint} {place}")


def _first_unprintable(words: str) -> int | None:
    """Counted in bytes, as Go counts."""
    for place, letter in enumerate(words):
        if not letter.isprintable():
            return len(words[:place].encode())
    return None


def _of_scale(scale: Object | None, at: str) -> Errors:
    if scale is None:
        return
    for name, root in _REPLICAS.items():
        path = scale.get(name) or ""
        if not path:
            yield required(f"{at}.{name}")
        else:
            yield from _of_path_below(path, (root,), f"{at}.{name}")
    if selector := scale.get("labelSelectorPath"):
        yield from _of_path_below(selector, (".spec", ".status"), f"{at}.labelSelectorPath")


def _of_path_below(path: str, roots: Sequence[str], at: str) -> Errors:
    if not path.startswith("."):
        yield invalid(at, path, "must be a simple json path starting with .")
    elif not path.startswith(tuple(f"{root}." for root in roots)):
        either = "either " if len(roots) > 1 else ""
        yield invalid(at, path, f"should be a json path under {either}{' or '.join(roots)}")


def _of_column(column: Object, at: str) -> Errors:
    types, formats = (",".join(known) for known in (_COLUMN_TYPES, _COLUMN_FORMATS))
    if not column.get("name"):
        yield required(f"{at}.name")
    kind = column.get("type", "")
    if not kind:
        yield required(f"{at}.type", f"must be one of {types}")
    elif kind not in _COLUMN_TYPES:
        yield invalid(f"{at}.type", kind, f"must be one of {types}")
    shape = column.get("format", "")
    if shape and shape not in _COLUMN_FORMATS:
        yield invalid(f"{at}.format", shape, f"must be one of {formats}")
    path = column.get("jsonPath", "")
    if not path:
        yield required(f"{at}.JSONPath")
    elif not path.startswith("."):
        yield invalid(f"{at}.JSONPath", path, "must be a simple json path starting with .")


def _of_selectable(fields: Sequence[Object], schema: Object | None, at: str) -> Errors:
    if schema is None:
        is_top = not at.startswith("spec.versions")
        needed = "validations.schema is" if is_top else "`version.schema.openAPIV3Schema` is not"
        yield invalid(at, "", f"may only be set when {needed} included")
        return
    seen: set[tuple[str, ...]] = set()
    for index, field in enumerate(fields):
        path = field.get("jsonPath", "")
        here = f"{at}[{index}].jsonPath"
        if not path:
            yield required(here)
            continue
        try:
            steps, found = field_paths.follow(path, schema, brackets=False)
        except NoSuchFieldError as error:
            yield invalid(here, path, f"is an invalid path: {error}")
            continue
        yield from _of_target(tuple(steps), found, path, here)
        if tuple(steps) in seen:
            yield duplicate(here, path)
        seen.add(tuple(steps))
    if len(seen) > _SELECTABLE_LIMIT:
        yield too_many(at, len(seen), _SELECTABLE_LIMIT)


def _of_target(steps: Sequence[str], found: Mapping[str, Any], path: str, at: str) -> Errors:
    if steps[:1] == ("metadata",):
        yield invalid(at, path, "must not point to fields in metadata")
    if found.get("type") not in _SELECTABLE_TYPES:
        words = (
            "must point to a field of type string, boolean or integer."
            " Enum string fields and strings with formats are allowed."
        )
        yield invalid(at, path, words)
