"""Who owns an object: by UID and controller flag, never by name or label."""

from kubevirt.api.meta import HasMetadata, OwnerReference


def controller_of(thing: HasMetadata) -> OwnerReference | None:
    return next((each for each in thing.metadata.owner_references if each.controller), None)


def is_owned_by(thing: HasMetadata, owner: HasMetadata) -> bool:
    """False for an owner that has no UID yet: nothing can belong to it."""
    reference = controller_of(thing)
    return reference is not None and reference.uid == owner.metadata.uid != ""


def reference_to(owner: HasMetadata, kind: str) -> OwnerReference:
    """For children of kubevirt.io's kinds: deleted with their owner, which waits for them."""
    return OwnerReference(
        api_version="kubevirt.io/v1",
        kind=kind,
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        controller=True,
        block_owner_deletion=True,
    )
