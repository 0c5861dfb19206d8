"""Namespace, and the configuration objects that live in one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from kubevirt.api.core.references import LocalObjectReference, ObjectReference
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Struct, list_map


class NamespaceSpec(Struct, frozen=True, kw_only=True):
    """What must be finished before the namespace goes."""

    finalizers: Annotated[tuple[str, ...], ATOMIC] = ()


class NamespaceCondition(Struct, frozen=True, kw_only=True):
    """Why a namespace is not gone yet."""

    type: str
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class NamespaceStatus(Struct, frozen=True, kw_only=True):
    """Whether the namespace is Active or Terminating."""

    conditions: Annotated[tuple[NamespaceCondition, ...], list_map("type")] = ()
    phase: str | None = None


class Namespace(Struct, frozen=True, kw_only=True):
    """A room for names, permissions and quotas."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: NamespaceSpec = NamespaceSpec()
    status: NamespaceStatus = NamespaceStatus()


class ConfigMap(Struct, frozen=True, kw_only=True):
    """Configuration as text (`data`) or base64 (`binary_data`)."""

    api_version: str | None = None
    binary_data: Mapping[str, str] = NO_ENTRIES
    data: Mapping[str, str] = NO_ENTRIES
    immutable: bool | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()


class Secret(Struct, frozen=True, kw_only=True):
    """Configuration to keep hidden; `data` is base64, `string_data` is only written."""

    type: str | None = None
    api_version: str | None = None
    data: Mapping[str, str] = NO_ENTRIES
    immutable: bool | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    string_data: Mapping[str, str] = NO_ENTRIES


class ServiceAccount(Struct, frozen=True, kw_only=True):
    """An identity for pods."""

    api_version: str | None = None
    automount_service_account_token: bool | None = None
    image_pull_secrets: Annotated[tuple[LocalObjectReference, ...], ATOMIC] = ()
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    secrets: Annotated[tuple[ObjectReference, ...], list_map("name")] = ()
