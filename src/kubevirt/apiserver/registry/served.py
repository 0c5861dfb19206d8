"""A kind at work: its schemas compiled, its rules at hand."""

from typing import Any

from kubevirt.apiserver import refusals
from kubevirt.apiserver.kinds.kind import Kind, Version
from kubevirt.apiserver.registry.admission import failed
from kubevirt.apiserver.registry.incoming import cause
from kubevirt.apiserver.registry.rules import rules_of
from kubevirt.apiserver.registry.shapes import Shape, Shapes
from kubevirt.apiserver.schema.field_errors import FieldError
from kubevirt.apiserver.schema.metadata import Undecodable
from kubevirt.apiserver.schema.structural import Pool

Object = dict[str, Any]


class Served:
    def __init__(self, kind: Kind, pool: Pool) -> None:
        self.kind = kind
        self.rules = rules_of(kind)
        self.shapes = Shapes(kind, pool)

    def shape(self, version: Version) -> Shape:
        return self.shapes.of(version)

    def defaulted(self, object_: Object, version: Version) -> Object:
        return self.rules.defaulted(self.shape(version).default(object_))

    def read_again(self, object_: Object, version: Version) -> Object:
        """Of an object that was applied: what its type did not declare is gone, as it would be the
        next time that somebody reads it.
        """
        try:
            return self.shape(version).read(object_).object
        except Undecodable as error:
            raise refusals.bad_request(str(error)) from error

    def changed_outside(self, object_: Object, version: Version) -> Object:
        """Of an object that a webhook has changed: it is read as if a client had sent it."""
        try:
            read = self.shape(version).read(object_).object
        except Undecodable as error:
            raise failed(str(error)) from error
        return self.defaulted(read, version)

    def check_new(self, new: Object, version: Version) -> None:
        is_namespaced = self.kind.namespaced
        found = self.shape(version).errors_of_new(new, is_namespaced=is_namespaced)
        found += self.rules.errors_of_new(new, is_namespaced=is_namespaced)
        self._refuse(new, found)

    def check_change(self, new: Object, old: Object, version: Version, subresource: str) -> None:
        shape = self.shape(version)
        if subresource == "status":
            found = shape.errors_of_status_change(new, old)
            found += self.rules.errors_of_status_change(new, old)
        elif subresource == "ephemeralcontainers":
            found = shape.errors_of_change(new, old) + self.rules.errors_of_looking(new, old)
        else:
            found = shape.errors_of_change(new, old) + self.rules.errors_of_change(new, old)
        self._refuse(new, found)

    def _refuse(self, object_: Object, found: list[FieldError]) -> None:
        if found:
            name = object_["metadata"].get("name", "")
            unique = {str(each): each for each in found}.values()
            raise refusals.invalid(self.kind, name, map(cause, unique))
