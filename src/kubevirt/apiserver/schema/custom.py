"""A version of a CRD: everything that its schema does to an object that is written.

    lamps = CustomSchema(crd_version["schema"]["openAPIV3Schema"], pool=pool)
    read = lamps.read(body)                        pruned, with `read.unknown` for strict decoding
    new = lamps.default(read.object)
    errors = lamps.errors_of_new(new, is_namespaced=True)

The order of checks and the way in which one silences another are Kubernetes'.
"""

from functools import cached_property
from typing import Any

from msgspec import Struct

from kubevirt.apiserver.schema import embedded, field_errors, metadata, names
from kubevirt.apiserver.schema.defaulting import default, drop_nulls
from kubevirt.apiserver.schema.field_errors import BLOCKS_RULES, NO_FIELD, FieldError
from kubevirt.apiserver.schema.listtypes import duplicates
from kubevirt.apiserver.schema.plain import ABSENT
from kubevirt.apiserver.schema.pruning import is_clean, prune
from kubevirt.apiserver.schema.rules import Rules
from kubevirt.apiserver.schema.structural import Pool, Schema, compile_schema
from kubevirt.apiserver.schema.validation import Validation

Object = dict[str, Any]


class Read(Struct, frozen=True):
    object: Object
    unknown: tuple[str, ...]
    """Paths of what was dropped, for `unknown field "…"`."""


class CustomSchema:
    def __init__(self, source: Object, *, pool: Pool | None = None) -> None:
        self.schema: Schema = compile_schema(source, pool=pool)
        self._validation = Validation(self.schema)
        self._rules = Rules(self.schema)

    @cached_property
    def _status_validation(self) -> Validation | None:
        status = self.schema.properties.get("status")
        return Validation(status) if status is not None else None

    def read(self, body: Object) -> Read:
        """Raises `metadata.Undecodable`."""
        meta, unknown = metadata.read(body.get("metadata"))
        pruned, dropped = body, list[str]()
        if not is_clean(body, self.schema):
            pruned, dropped = prune(body, self.schema)
            pruned = drop_nulls(pruned, self.schema)
        pruned, inside = embedded.read(pruned, self.schema)
        if meta or "metadata" in body:
            pruned = {**pruned, "metadata": meta}
        return Read(pruned, (*unknown, *dropped, *inside))

    def default(self, object_: Object) -> Object:
        made: Object = default(object_, self.schema)
        return made

    def errors_of_new(self, new: Object, *, is_namespaced: bool) -> list[FieldError]:
        found = metadata.errors_of_new(
            new.get("metadata", {}), is_namespaced=is_namespaced, name_rule=names.subdomain
        )
        found += self._validation.errors(new)
        found += embedded.errors(new, self.schema)
        found += duplicates(new, self.schema)
        return found + self._broken_rules(new, ABSENT, found)

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        found = metadata.errors_of_change(new.get("metadata", {}), old.get("metadata", {}))
        found += self._validation.errors(new, old)
        found += embedded.errors(new, self.schema)
        found += self._new_duplicates(new, old)
        return found + self._broken_rules(new, old, found)

    def errors_of_status_change(self, new: Object, old: Object) -> list[FieldError]:
        found = metadata.errors_of_change(new.get("metadata", {}), old.get("metadata", {}))
        if "status" in new and self._status_validation:
            before = old.get("status", ABSENT)
            found += self._status_validation.errors(new["status"], before, at="status")
        found += self._new_duplicates(new, old)
        return found + self._broken_rules(new, old, found)

    def _new_duplicates(self, new: Object, old: Object) -> list[FieldError]:
        """An object that has duplicates may keep them, and all others with them."""
        found = duplicates(new, self.schema)
        return found if found and not duplicates(old, self.schema) else []

    def _broken_rules(self, new: Object, old: Any, found: list[FieldError]) -> list[FieldError]:
        if not self.schema.has_rules:
            return []
        if any(error.reason in BLOCKS_RULES for error in found):
            words = "some validation rules were not checked because the object was invalid;"
            words = f"{words} correct the existing errors to complete validation"
            return [field_errors.invalid(NO_FIELD, None, words)]
        return self._rules.broken(new, old)
