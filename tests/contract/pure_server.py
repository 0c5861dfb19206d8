"""The pure functions put together as a server does, to be held against a real one.

One object, in memory. What a real server adds of its own (uid, times, versions) is left out.
"""

from collections.abc import Callable, Iterable
from typing import Any

from kubevirt.apiserver.apply import writes
from kubevirt.apiserver.apply.conflicts import ApplyConflicts
from kubevirt.apiserver.apply.fieldset import FieldSet
from kubevirt.apiserver.apply.ownership import Kind
from kubevirt.apiserver.apply.types import type_of_object
from kubevirt.apiserver.schema.custom import CustomSchema
from kubevirt.apiserver.schema.decoding import strict_error
from kubevirt.apiserver.schema.field_errors import FieldError, invalid_message
from kubevirt.apiserver.schema.metadata import Undecodable
from kubevirt.apiserver.schema.plain import is_same
from kubevirt.apiserver.schema.structural import Pool
from kubevirt.base.errors import UserError

Object = dict[str, Any]
Causes = set[tuple[str, str, str]]


class Refusal(Exception):  # noqa: N818  # it is what the server gives
    def __init__(self, message: str, causes: Iterable[tuple[str, str, str]] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.causes: Causes = set(causes)


class PureServer:
    def __init__(self, crd: Object) -> None:
        spec = crd["spec"]
        self.kind: str = spec["names"]["kind"]
        self.qualified_kind = f"{self.kind}.{spec['group']}"
        self._is_namespaced = spec["scope"] == "Namespaced"
        pool = Pool()
        self.schemas = {
            f"{spec['group']}/{version['name']}": CustomSchema(
                version["schema"]["openAPIV3Schema"], pool=pool
            )
            for version in spec["versions"]
        }
        self.types = {name: type_of_object(each.schema) for name, each in self.schemas.items()}
        self.live: Object | None = None
        self.changed = False
        self._seconds = 0

    def endpoint(self, api_version: str, subresource: str) -> Kind:
        ignored = (
            FieldSet.of(("f:spec",)) if subresource == "status" else FieldSet.of(("f:status",))
        )
        return Kind(
            api_version=api_version,
            kind=self.kind,
            types=self.types,
            subresource=subresource,
            ignored={api_version: ignored},
        )

    def write(
        self,
        body: Object,
        *,
        by: str,
        api_version: str,
        subresource: str = "",
        strict: bool = False,
    ) -> Object:
        """Create or replace."""
        schema = self.schemas[api_version]
        try:
            read = schema.read({"apiVersion": api_version, "kind": self.kind} | body)
        except Undecodable as error:
            raise Refusal(self._unhandled(api_version, str(error))) from error
        if strict and read.unknown:
            raise Refusal(self._unhandled(api_version, strict_error((), read.unknown)))
        new = schema.default(read.object)
        live = self._live_as(api_version)
        new = self._with_server_fields(new, live)
        made = writes.update(
            live, new, self.endpoint(api_version, subresource), by=by, now=self._now()
        )
        return self._store(live, made, api_version, subresource)

    def apply(
        self,
        configuration: Object,
        *,
        by: str,
        api_version: str,
        force: bool = False,
        subresource: str = "",
    ) -> Object:
        live = self._live_as(api_version)
        try:
            made = writes.apply(
                live,
                configuration,
                self.endpoint(api_version, subresource),
                by=by,
                now=self._now(),
                force=force,
                default=self.schemas[api_version].default,
            )
        except ApplyConflicts as refusal:
            causes = (
                ("FieldManagerConflict", each.field, each.message) for each in refusal.conflicts
            )
            raise Refusal(str(refusal), causes) from refusal
        except UserError as refusal:
            raise Refusal(str(refusal)) from refusal
        made = self._with_server_fields(made, live)
        return self._store(live, made, api_version, subresource)

    def patch(
        self, change: Callable[[Object], Object], *, by: str, api_version: str, subresource: str
    ) -> Object:
        """Any patch but an apply: what comes out is written like a body."""
        live = self._live_as(api_version)
        assert live is not None
        try:
            patched = change(live)
        except UserError as refusal:
            raise Refusal(str(refusal)) from refusal
        return self.write(patched, by=by, api_version=api_version, subresource=subresource)

    def _unhandled(self, api_version: str, words: str) -> str:
        version = api_version.rpartition("/")[2]
        return f'{self.kind} in version "{version}" cannot be handled as a {self.kind}: {words}'

    def _live_as(self, api_version: str) -> Object | None:
        return None if self.live is None else {**self.live, "apiVersion": api_version}

    def _with_server_fields(self, new: Object, live: Object | None) -> Object:
        before = live["metadata"] if live else {"uid": "", "resourceVersion": "1"}
        kept = {name: before[name] for name in ("uid", "resourceVersion") if before[name]}
        return {**new, "metadata": {**new.get("metadata", {}), **kept}}

    def _store(
        self, live: Object | None, made: Object, api_version: str, subresource: str
    ) -> Object:
        made = _prepared(live, made, subresource)
        self._validate(live, made, api_version, subresource)
        # What a type did not declare is gone when the object is read again.
        made = self.schemas[api_version].read(made).object
        if live is not None:
            made = writes.keep_times_of_no_op(live, made)
        made = {**made, "metadata": {**made["metadata"], "uid": "1", "resourceVersion": "1"}}
        self.changed = live is None or not is_same(live, made)
        self.live = made
        return made

    def _validate(
        self, live: Object | None, made: Object, api_version: str, subresource: str
    ) -> None:
        schema = self.schemas[api_version]
        if live is None:
            errors = schema.errors_of_new(made, is_namespaced=self._is_namespaced)
        elif subresource == "status":
            errors = schema.errors_of_status_change(made, live)
        else:
            errors = schema.errors_of_change(made, live)
        if errors:
            message = invalid_message(self.qualified_kind, made["metadata"].get("name", ""), errors)
            raise Refusal(message, map(_cause, errors))

    def _now(self) -> str:
        self._seconds += 1
        return f"2026-01-01T00:{self._seconds // 60:02}:{self._seconds % 60:02}Z"


def _cause(error: FieldError) -> tuple[str, str, str]:
    return (str(error.reason), error.field, error.message)


def _prepared(live: Object | None, made: Object, subresource: str) -> Object:
    """Through one endpoint only the status changes, through the other all but the status."""
    if subresource == "status" and live is not None:
        metadata = dict(live["metadata"])
        metadata.pop("managedFields", None)
        if "managedFields" in made["metadata"]:
            metadata["managedFields"] = made["metadata"]["managedFields"]
        kept = {**live, "metadata": metadata}
        kept.pop("status", None)
        return kept | ({"status": made["status"]} if "status" in made else {})
    kept = {name: value for name, value in made.items() if name != "status"}
    return kept | ({"status": live["status"]} if live and "status" in live else {})
