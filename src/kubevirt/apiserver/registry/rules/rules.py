"""The rules that a kind goes by when it has none of its own."""

from typing import Any

from kubevirt.apiserver.schema import metadata, names
from kubevirt.apiserver.schema.field_errors import FieldError
from kubevirt.apiserver.schema.names import NameRule

Object = dict[str, Any]


class Rules:
    """Of built-in kinds. Nothing here changes an object in place."""

    is_custom = False
    needs_version_to_update = False

    def __init__(
        self,
        *,
        is_created_by_update: bool = False,
        is_returned_when_deleted: bool = False,
        has_generation: bool = False,
        keeps_new_status: bool = False,
        first_status: Object | None = None,
        name_rule: NameRule = names.subdomain,
    ) -> None:
        self.is_created_by_update = is_created_by_update
        self.is_returned_when_deleted = is_returned_when_deleted
        self.has_generation = has_generation
        self.keeps_new_status = keeps_new_status
        self._first_status = first_status
        self._name_rule = name_rule

    def defaulted(self, object_: Object) -> Object:
        """What a kind fills in beyond its schema, as if the client had said it."""
        return object_

    def prepared(self, object_: Object) -> Object:
        """What the server adds to a new object."""
        return {**object_, "status": self._first_status} if self._first_status else object_

    def changed(self, new: Object, old: Object) -> Object:  # noqa: ARG002  # for kinds that care
        """What the server makes of a change, through the main endpoint."""
        return new

    def errors_of_new(self, new: Object, *, is_namespaced: bool) -> list[FieldError]:
        return metadata.errors_of_new(
            new["metadata"], is_namespaced=is_namespaced, name_rule=self._name_rule
        ) + self.errors(new)

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:  # noqa: ARG002
        return self.errors(new)

    def status_changed(self, new: Object, old: Object) -> Object:  # noqa: ARG002
        """What the server makes of a change through the status endpoint."""
        return new

    def errors_of_status_change(self, new: Object, old: Object) -> list[FieldError]:  # noqa: ARG002
        return []

    def looked_into(self, new: Object, old: Object) -> Object:  # noqa: ARG002
        """What becomes of an object through `ephemeralcontainers`, which only pods have."""
        return old

    def errors_of_looking(self, new: Object, old: Object) -> list[FieldError]:  # noqa: ARG002
        return []

    def errors(self, object_: Object) -> list[FieldError]:  # noqa: ARG002
        """Of an object whenever it is written."""
        return []

    def grace_s(self, object_: Object, asked: int | None) -> int | None:  # noqa: ARG002
        """Seconds until it may go; None for kinds that go at once."""
        return None

    def is_held(self, object_: Object) -> bool:
        """Whether somebody still has to let go before it can be removed."""
        return bool(object_["metadata"].get("finalizers"))

    def held_by_server(self, object_: Object) -> tuple[str, ...]:  # noqa: ARG002
        """Finalizers that the server adds to an object whose deletion begins."""
        return ()

    def marked(self, object_: Object) -> Object:
        """An object whose deletion has begun."""
        return object_


class CustomRules(Rules):
    """Of kinds that a CRD defines; their schemas say the rest."""

    is_custom = True
    needs_version_to_update = True

    def __init__(self) -> None:
        super().__init__(has_generation=True)

    def errors_of_new(self, new: Object, *, is_namespaced: bool) -> list[FieldError]:  # noqa: ARG002
        return []
