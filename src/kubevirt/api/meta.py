"""What every Kubernetes object carries, and the selectors that pick objects."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, ClassVar, Protocol

from msgspec import field

from kubevirt.api.struct import (
    ATOMIC,
    ATOMIC_MAP,
    NO_ENTRIES,
    Int64,
    Mark,
    Struct,
    enum,
    list_map,
    mark,
)


class OwnerReference(Struct, frozen=True, kw_only=True):
    """The object that this one belongs to and is deleted with."""

    api_version: str
    """API version of the owner."""
    kind: str
    """Kind of the owner."""
    name: str
    """Name of the owner."""
    uid: str
    """UID of the owner."""
    controller: bool | None = None
    """Whether the owner is the one that manages this object."""
    block_owner_deletion: bool | None = None
    """In foreground deletion, keeps the owner until this object is gone."""


class ObjectMeta(Struct, frozen=True, kw_only=True):
    """Standard object metadata."""

    # Without managedFields: they are a third of what a server sends, and a cache would keep them.
    # Who wants to know who owns a field reads the object as plain data, by `Resource.raw`.

    name: str = ""
    generate_name: str | None = None
    namespace: str | None = None
    uid: str = ""
    resource_version: str | None = None
    generation: Int64 | None = None
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: Int64 | None = None
    labels: Mapping[str, str] = NO_ENTRIES
    annotations: Mapping[str, str] = NO_ENTRIES
    owner_references: Annotated[tuple[OwnerReference, ...], list_map("uid")] = ()
    finalizers: tuple[str, ...] = ()
    self_link: str | None = None


class ListMeta(Struct, frozen=True, kw_only=True):
    """Metadata of a list: its version, and where the next page begins."""

    resource_version: str | None = None
    continue_: str | None = field(default=None, name="continue")
    remaining_item_count: int | None = None


class HasMetadata(Protocol):
    """Any API object: what an informer, a queue or a recorder needs to know of one."""

    @property
    def metadata(self) -> ObjectMeta: ...


class PartialObjectMetadata(Struct, frozen=True, kw_only=True):
    """An object of any kind of which only the metadata was asked for."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()


class LabelSelectorRequirement(Struct, frozen=True, kw_only=True):
    """One condition on a label."""

    key: str
    """Label key."""
    operator: str
    """Exists, DoesNotExist, In or NotIn."""
    values: Annotated[tuple[str, ...], ATOMIC] = ()
    """Values for In and NotIn; empty for the others."""


class LabelSelector(Struct, frozen=True, kw_only=True):
    """Picks objects by their labels; all conditions must hold, and an empty selector picks all."""

    marks: ClassVar[tuple[Mark, ...]] = (ATOMIC_MAP,)

    match_labels: Mapping[str, str] = NO_ENTRIES
    """Labels with the values they must have."""
    match_expressions: Annotated[tuple[LabelSelectorRequirement, ...], ATOMIC] = ()
    """Further conditions on labels."""


class Condition(Struct, frozen=True, kw_only=True):
    """One aspect of the state of an object."""

    type: Annotated[
        str,
        mark(
            pattern=r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
            maxLength=316,
        ),
    ]
    """Aspect in CamelCase."""
    status: Annotated[str, enum("True", "False", "Unknown")]
    """True, False or Unknown."""
    last_transition_time: datetime
    """When status last changed."""
    reason: Annotated[
        str, mark(pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$", minLength=1, maxLength=1024)
    ]
    """Explanation for programs, in one CamelCase word."""
    message: Annotated[str, mark(maxLength=32768)]
    """Explanation for people."""
    observed_generation: Annotated[Int64 | None, mark(minimum=0)] = None
    """Generation of the object that the condition is about."""


class StatusCause(Struct, frozen=True, kw_only=True):
    """One reason among several for a refusal, with the field it is about."""

    reason: str = ""
    message: str = ""
    field: str = ""


class StatusDetails(Struct, frozen=True, kw_only=True):
    """The object an answer is about, and why it was refused."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: tuple[StatusCause, ...] = ()
    retry_after_seconds: int = 0


class Status(Struct, frozen=True, kw_only=True):
    """A server's answer where there is no object to show, mostly an error."""

    api_version: str = "v1"
    kind: str = "Status"
    metadata: ListMeta = ListMeta()
    status: str = ""
    message: str = ""
    reason: str = ""
    details: StatusDetails | None = None
    code: int = 0
