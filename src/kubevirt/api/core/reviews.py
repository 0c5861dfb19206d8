"""Questions to the API server: who is this, may they do that?"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Int64, Struct


class NonResourceAttributes(Struct, frozen=True, kw_only=True):
    """A call on a plain URL."""

    path: str | None = None
    verb: str | None = None


class ResourceAttributes(Struct, frozen=True, kw_only=True):
    """A call on a resource; empty fields mean all, or none for a subresource."""

    name: str | None = None
    group: str | None = None
    namespace: str | None = None
    resource: str | None = None
    subresource: str | None = None
    verb: str | None = None
    version: str | None = None


class SubjectAccessReviewSpec(Struct, frozen=True, kw_only=True):
    """Who wants to do what."""

    extra: Mapping[str, tuple[str, ...]] = NO_ENTRIES
    groups: Annotated[tuple[str, ...], ATOMIC] = ()
    non_resource_attributes: NonResourceAttributes | None = None
    resource_attributes: ResourceAttributes | None = None
    uid: str | None = None
    user: str | None = None


class SubjectAccessReviewStatus(Struct, frozen=True, kw_only=True):
    """Whether it is allowed, and why."""

    allowed: bool
    denied: bool | None = None
    evaluation_error: str | None = None
    reason: str | None = None


class SubjectAccessReview(Struct, frozen=True, kw_only=True):
    """Asks whether somebody may do something; virt-api asks it for every call."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: SubjectAccessReviewSpec
    status: SubjectAccessReviewStatus | None = None


class SelfSubjectAccessReviewSpec(Struct, frozen=True, kw_only=True):
    """What the caller wants to do."""

    non_resource_attributes: NonResourceAttributes | None = None
    resource_attributes: ResourceAttributes | None = None


class SelfSubjectAccessReview(Struct, frozen=True, kw_only=True):
    """Asks whether the caller may do something."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: SelfSubjectAccessReviewSpec
    status: SubjectAccessReviewStatus | None = None


class UserInfo(Struct, frozen=True, kw_only=True):
    """An authenticated user."""

    extra: Mapping[str, tuple[str, ...]] = NO_ENTRIES
    groups: Annotated[tuple[str, ...], ATOMIC] = ()
    uid: str | None = None
    username: str | None = None


class TokenReviewSpec(Struct, frozen=True, kw_only=True):
    """The token, and for whom it should be valid."""

    audiences: Annotated[tuple[str, ...], ATOMIC] = ()
    token: str | None = None


class TokenReviewStatus(Struct, frozen=True, kw_only=True):
    """Whose token it is, if it is valid."""

    audiences: Annotated[tuple[str, ...], ATOMIC] = ()
    authenticated: bool | None = None
    error: str | None = None
    user: UserInfo | None = None


class TokenReview(Struct, frozen=True, kw_only=True):
    """Asks whose token this is."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: TokenReviewSpec
    status: TokenReviewStatus = TokenReviewStatus()


class BoundObjectReference(Struct, frozen=True, kw_only=True):
    """An object whose deletion invalidates a token."""

    name: str | None = None
    api_version: str | None = None
    kind: str | None = None
    uid: str | None = None


class TokenRequestSpec(Struct, frozen=True, kw_only=True):
    """For whom a token should be valid, and how long."""

    audiences: Annotated[tuple[str, ...], ATOMIC]
    bound_object_ref: BoundObjectReference | None = None
    expiration_seconds: Int64 | None = None


class TokenRequestStatus(Struct, frozen=True, kw_only=True):
    """The token."""

    expiration_timestamp: datetime
    token: str


class TokenRequest(Struct, frozen=True, kw_only=True):
    """Body of serviceaccounts/token: asks for a new token."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: TokenRequestSpec
    status: TokenRequestStatus | None = None
