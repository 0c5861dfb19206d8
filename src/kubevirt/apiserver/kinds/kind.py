"""A kind that is served: how it is called, where it lives, what may be done to it."""

from collections.abc import Callable
from typing import Any

import msgspec

Schema = dict[str, Any]

EVERY_VERB = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class Names(msgspec.Struct, frozen=True, kw_only=True):
    plural: str
    singular: str
    kind: str
    list_kind: str
    short: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """Of what `kubectl get` prints."""

    name: str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0
    """Above 0: shown with `-o wide` only."""
    json_path: str = ""
    """Where its value is; columns of built-in kinds are computed instead."""


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a kind. All versions of an object are the same but for their name."""

    name: str
    schema: Callable[[], Schema]
    """Made when it is first needed: most kinds are never written to."""
    type_name: str = ""
    """Of a built-in kind: its entry in the table of types."""
    columns: tuple[Column, ...] = ()
    subresources: tuple[str, ...] = ()
    """status, scale, binding …"""
    served: bool = True
    storage: bool = True
    warning: str = ""
    """For those who still use it."""
    selectable: tuple[str, ...] = ()
    """JSON paths beyond the name and the namespace that a field selector may name."""


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    group: str
    names: Names
    namespaced: bool
    versions: tuple[Version, ...]
    """The most preferred first."""
    verbs: tuple[str, ...] = EVERY_VERB
    stored_in: str | None = None
    """The group whose kind of the same name it shares its objects with, if not its own."""
    is_custom: bool = False
    """Whether a CRD defines it; such a kind is pruned, defaulted and validated by its schema alone."""

    @property
    def group_resource(self) -> str:
        return f"{self.names.plural}.{self.group}" if self.group else self.names.plural

    @property
    def storage_group(self) -> str:
        return self.group if self.stored_in is None else self.stored_in

    @property
    def storage_version(self) -> Version:
        return next(each for each in self.versions if each.storage)

    def version(self, name: str) -> Version | None:
        return next((each for each in self.versions if each.name == name and each.served), None)

    @property
    def prefix(self) -> str:
        """Of its keys in the store."""
        return f"/registry/{self.storage_group or 'core'}/{self.names.plural}/"

    def key(self, namespace: str, name: str) -> str:
        return f"{self.prefix}{namespace}/{name}" if self.namespaced else f"{self.prefix}{name}"
