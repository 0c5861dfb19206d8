"""Webhooks that the API server asks before it stores an object."""

from typing import Annotated

from kubevirt.api.meta import LabelSelector, ObjectMeta
from kubevirt.api.struct import ATOMIC, Int32, Struct, list_map


class MatchCondition(Struct, frozen=True, kw_only=True):
    """A CEL expression that must hold for a webhook to be called."""

    name: str
    expression: str


class RuleWithOperations(Struct, frozen=True, kw_only=True):
    """Which operations on which resources a webhook is asked about."""

    api_groups: Annotated[tuple[str, ...], ATOMIC] = ()
    api_versions: Annotated[tuple[str, ...], ATOMIC] = ()
    operations: Annotated[tuple[str, ...], ATOMIC] = ()
    resources: Annotated[tuple[str, ...], ATOMIC] = ()
    scope: str | None = None


class ServiceReference(Struct, frozen=True, kw_only=True):
    """The service in front of a webhook."""

    name: str
    namespace: str
    path: str | None = None
    port: Int32 | None = None


class WebhookClientConfig(Struct, frozen=True, kw_only=True):
    """How the API server reaches a webhook: by service or by URL."""

    ca_bundle: str | None = None
    service: ServiceReference | None = None
    url: str | None = None


class MutatingWebhook(Struct, frozen=True, kw_only=True):
    """A webhook that may change objects."""

    name: str
    admission_review_versions: Annotated[tuple[str, ...], ATOMIC]
    client_config: WebhookClientConfig
    failure_policy: str | None = None
    match_conditions: Annotated[tuple[MatchCondition, ...], list_map("name")] = ()
    match_policy: str | None = None
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    reinvocation_policy: str | None = None
    rules: Annotated[tuple[RuleWithOperations, ...], ATOMIC] = ()
    side_effects: str
    timeout_seconds: Int32 | None = None


class ValidatingWebhook(Struct, frozen=True, kw_only=True):
    """A webhook that may refuse objects."""

    name: str
    admission_review_versions: Annotated[tuple[str, ...], ATOMIC]
    client_config: WebhookClientConfig
    failure_policy: str | None = None
    match_conditions: Annotated[tuple[MatchCondition, ...], list_map("name")] = ()
    match_policy: str | None = None
    namespace_selector: LabelSelector | None = None
    object_selector: LabelSelector | None = None
    rules: Annotated[tuple[RuleWithOperations, ...], ATOMIC] = ()
    side_effects: str
    timeout_seconds: Int32 | None = None


class MutatingWebhookConfiguration(Struct, frozen=True, kw_only=True):
    """Webhooks that change objects before they are validated."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    webhooks: Annotated[tuple[MutatingWebhook, ...], list_map("name")] = ()


class ValidatingWebhookConfiguration(Struct, frozen=True, kw_only=True):
    """Webhooks that look at objects right before they are stored."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    webhooks: Annotated[tuple[ValidatingWebhook, ...], list_map("name")] = ()
