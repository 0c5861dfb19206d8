"""How an API server is extended: CRDs and aggregated APIs."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from msgspec import field

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Int32, Struct, list_map


class CustomResourceColumnDefinition(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    type: str
    description: str | None = None
    format: str | None = None
    json_path: str
    priority: Int32 | None = None


class CustomResourceDefinitionNames(Struct, frozen=True, kw_only=True):
    """…"""

    categories: Annotated[tuple[str, ...], ATOMIC] = ()
    kind: str
    list_kind: str | None = None
    plural: str
    short_names: Annotated[tuple[str, ...], ATOMIC] = ()
    singular: str | None = None


class CustomResourceSubresourceScale(Struct, frozen=True, kw_only=True):
    """…"""

    label_selector_path: str | None = None
    spec_replicas_path: str
    status_replicas_path: str


class CustomResourceSubresources(Struct, frozen=True, kw_only=True):
    """…"""

    scale: CustomResourceSubresourceScale | None = None
    status: Mapping[str, Any] = NO_ENTRIES


class CustomResourceValidation(Struct, frozen=True, kw_only=True):
    """…"""

    open_apiv3_schema: Mapping[str, Any] = field(default=NO_ENTRIES, name="openAPIV3Schema")


class SelectableField(Struct, frozen=True, kw_only=True):
    """…"""

    json_path: str


class CustomResourceDefinitionVersion(Struct, frozen=True, kw_only=True):
    """…"""

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
    """…"""

    strategy: str


class CustomResourceDefinitionSpec(Struct, frozen=True, kw_only=True):
    """…"""

    conversion: CustomResourceConversion | None = None
    group: str
    names: CustomResourceDefinitionNames
    preserve_unknown_fields: bool | None = None
    scope: str
    versions: Annotated[tuple[CustomResourceDefinitionVersion, ...], ATOMIC]


class CustomResourceDefinitionCondition(Struct, frozen=True, kw_only=True):
    """…"""

    type: str
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class CustomResourceDefinitionStatus(Struct, frozen=True, kw_only=True):
    """…"""

    accepted_names: CustomResourceDefinitionNames | None = None
    conditions: Annotated[tuple[CustomResourceDefinitionCondition, ...], list_map("type")] = ()
    stored_versions: Annotated[tuple[str, ...], ATOMIC] = ()


class CustomResourceDefinition(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: CustomResourceDefinitionSpec
    status: CustomResourceDefinitionStatus = CustomResourceDefinitionStatus()


class ServiceReference(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    namespace: str | None = None
    port: Int32 | None = None


class APIServiceSpec(Struct, frozen=True, kw_only=True):
    """…"""

    ca_bundle: Annotated[str | None, ATOMIC] = None
    group: str | None = None
    group_priority_minimum: Int32
    insecure_skip_tls_verify: bool | None = field(default=None, name="insecureSkipTLSVerify")
    service: ServiceReference | None = None
    version: str | None = None
    version_priority: Int32


class APIServiceCondition(Struct, frozen=True, kw_only=True):
    """…"""

    type: str
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str


class APIServiceStatus(Struct, frozen=True, kw_only=True):
    """…"""

    conditions: Annotated[tuple[APIServiceCondition, ...], list_map("type")] = ()


class APIService(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: APIServiceSpec | None = None
    status: APIServiceStatus = APIServiceStatus()
