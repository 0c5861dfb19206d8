"""Questions to the API server: who is this, may they do that?"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Int64, Struct


class NonResourceAttributes(Struct, frozen=True, kw_only=True):
    """…"""

    path: str | None = None
    verb: str | None = None


class ResourceAttributes(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    group: str | None = None
    namespace: str | None = None
    resource: str | None = None
    subresource: str | None = None
    verb: str | None = None
    version: str | None = None


class SubjectAccessReviewSpec(Struct, frozen=True, kw_only=True):
    """…"""

    extra: Mapping[str, tuple[str, ...]] = NO_ENTRIES
    groups: Annotated[tuple[str, ...], ATOMIC] = ()
    non_resource_attributes: NonResourceAttributes | None = None
    resource_attributes: ResourceAttributes | None = None
    uid: str | None = None
    user: str | None = None


class SubjectAccessReviewStatus(Struct, frozen=True, kw_only=True):
    """…"""

    allowed: bool
    denied: bool | None = None
    evaluation_error: str | None = None
    reason: str | None = None


class SubjectAccessReview(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: SubjectAccessReviewSpec
    status: SubjectAccessReviewStatus | None = None


class SelfSubjectAccessReviewSpec(Struct, frozen=True, kw_only=True):
    """…"""

    non_resource_attributes: NonResourceAttributes | None = None
    resource_attributes: ResourceAttributes | None = None


class SelfSubjectAccessReview(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: SelfSubjectAccessReviewSpec
    status: SubjectAccessReviewStatus | None = None


class UserInfo(Struct, frozen=True, kw_only=True):
    """…"""

    extra: Mapping[str, tuple[str, ...]] = NO_ENTRIES
    groups: Annotated[tuple[str, ...], ATOMIC] = ()
    uid: str | None = None
    username: str | None = None


class TokenReviewSpec(Struct, frozen=True, kw_only=True):
    """…"""

    audiences: Annotated[tuple[str, ...], ATOMIC] = ()
    token: str | None = None


class TokenReviewStatus(Struct, frozen=True, kw_only=True):
    """…"""

    audiences: Annotated[tuple[str, ...], ATOMIC] = ()
    authenticated: bool | None = None
    error: str | None = None
    user: UserInfo | None = None


class TokenReview(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: TokenReviewSpec
    status: TokenReviewStatus = TokenReviewStatus()


class BoundObjectReference(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    api_version: str | None = None
    kind: str | None = None
    uid: str | None = None


class TokenRequestSpec(Struct, frozen=True, kw_only=True):
    """…"""

    audiences: Annotated[tuple[str, ...], ATOMIC]
    bound_object_ref: BoundObjectReference | None = None
    expiration_seconds: Int64 | None = None


class TokenRequestStatus(Struct, frozen=True, kw_only=True):
    """…"""

    expiration_timestamp: datetime
    token: str


class TokenRequest(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: TokenRequestSpec
    status: TokenRequestStatus | None = None
