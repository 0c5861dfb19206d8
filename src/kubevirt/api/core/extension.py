"""How an API server is extended: CRDs and aggregated APIs."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from msgspec import field

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Int32, Struct, list_map


class CustomResourceColumnDefinition(Struct, frozen=True, kw_only=True):
    """A column of `kubectl get`."""

    name: str
    type: str
    description: str | None = None
    format: str | None = None
    json_path: str
    priority: Int32 | None = None


class CustomResourceDefinitionNames(Struct, frozen=True, kw_only=True):
    """The names of a kind."""

    categories: Annotated[tuple[str, ...], ATOMIC] = ()
    kind: str
    list_kind: str | None = None
    plural: str
    short_names: Annotated[tuple[str, ...], ATOMIC] = ()
    singular: str | None = None


class CustomResourceSubresourceScale(Struct, frozen=True, kw_only=True):
    """Where the scale subresource finds its numbers."""

    label_selector_path: str | None = None
    spec_replicas_path: str
    status_replicas_path: str


class CustomResourceSubresources(Struct, frozen=True, kw_only=True):
    """Subresources; an empty object as `status` splits it from the rest."""

    scale: CustomResourceSubresourceScale | None = None
    status: Mapping[str, Any] = NO_ENTRIES


class CustomResourceValidation(Struct, frozen=True, kw_only=True):
    """The schema of a version."""

    open_apiv3_schema: Mapping[str, Any] = field(default=NO_ENTRIES, name="openAPIV3Schema")


class SelectableField(Struct, frozen=True, kw_only=True):
    """A field that field selectors may use."""

    json_path: str


class CustomResourceDefinitionVersion(Struct, frozen=True, kw_only=True):
    """One version of a kind; exactly one of a CRD's versions is stored."""

    name: str
    additional_printer_columns: Annotated[tuple[CustomResourceColumnDefinition, ...], ATOMIC] = ()
    deprecated: bool | None = None
    deprecation_warning: str | None = None
    schema: CustomResourceValidation | None = None
    selectable_fields: Annotated[tuple[SelectableField, ...], ATOMIC] = ()
    served: bool
    storage: bool
    subresources: CustomResourceSubresources | None = None


class CustomResourceConversion(Struct, frozen=True, kw_only=True):
    """How objects pass from version to version; ours need none."""

    strategy: str


class CustomResourceDefinitionSpec(Struct, frozen=True, kw_only=True):
    """A kind: its group, names, scope and versions."""

    conversion: CustomResourceConversion | None = None
    group: str
    names: CustomResourceDefinitionNames
    preserve_unknown_fields: bool | None = None
    scope: str
    versions: Annotated[tuple[CustomResourceDefinitionVersion, ...], ATOMIC]


class CustomResourceDefinitionCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the CRD's state, such as Established."""

    type: str
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class CustomResourceDefinitionStatus(Struct, frozen=True, kw_only=True):
    """What the API server accepted."""

    accepted_names: CustomResourceDefinitionNames | None = None
    conditions: Annotated[tuple[CustomResourceDefinitionCondition, ...], list_map("type")] = ()
    stored_versions: Annotated[tuple[str, ...], ATOMIC] = ()


class CustomResourceDefinition(Struct, frozen=True, kw_only=True):
    """A kind that is added to the API server."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: CustomResourceDefinitionSpec
    status: CustomResourceDefinitionStatus = CustomResourceDefinitionStatus()


class ServiceReference(Struct, frozen=True, kw_only=True):
    """The service that answers for an aggregated API."""

    name: str | None = None
    namespace: str | None = None
    port: Int32 | None = None


class APIServiceSpec(Struct, frozen=True, kw_only=True):
    """Which group and version is served, and by which service."""

    ca_bundle: Annotated[str | None, ATOMIC] = None
    group: str | None = None
    group_priority_minimum: Int32
    insecure_skip_tls_verify: bool | None = field(default=None, name="insecureSkipTLSVerify")
    service: ServiceReference | None = None
    version: str | None = None
    version_priority: Int32


class APIServiceCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the API's state, such as Available."""

    type: str
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class APIServiceStatus(Struct, frozen=True, kw_only=True):
    """Whether the API can be reached."""

    conditions: Annotated[tuple[APIServiceCondition, ...], list_map("type")] = ()


class APIService(Struct, frozen=True, kw_only=True):
    """A group and version that another server answers, as virt-api does."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: APIServiceSpec | None = None
    status: APIServiceStatus = APIServiceStatus()
