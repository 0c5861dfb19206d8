"""The verbs that write. Parts of objects are patched; whole ones are only created and deleted.

Nothing here is repeated unless the server asked for it: after `Unreachable` a write may or may not
have happened, and only the caller can find out.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from kubevirt.api.core.options import Scale
from kubevirt.api.resource import Resource
from kubevirt.kube.http.calls import (
    METADATA_ONLY,
    Calls,
    FieldValidation,
    Propagation,
    accepting,
    delete_options,
    request_for_many,
    request_for_one,
    require_namespace,
    write_options,
)
from kubevirt.kube.http.decoding import status_in
from kubevirt.kube.http.encoding import body_of, data_of, object_of
from kubevirt.kube.http.request import JSON
from kubevirt.kube.patches import Apply, MergePatch, Patch

T = TypeVar("T")


class Writing(Calls):
    async def create(
        self,
        resource: Resource[T],
        obj: T | Mapping[str, Any],
        namespace: str | None = None,
        *,
        dry_run: bool = False,
        field_manager: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> T:
        """The object as the server stored it. Its own namespace counts when none is given."""
        data = object_of(obj, resource)
        namespace = namespace or data.get("metadata", {}).get("namespace")
        require_namespace(resource, namespace)
        options = write_options(
            dry_run=dry_run, field_manager=field_manager, field_validation=field_validation
        )
        request = request_for_many(
            "POST",
            resource,
            namespace,
            params=options,
            body=body_of(data),
            accept=accepting(resource, METADATA_ONLY),
        )
        return await self._read(resource, request)

    async def patch(
        self,
        resource: Resource[T],
        name: str,
        patch: Patch,
        namespace: str | None = None,
        *,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str | None = None,
        force: bool | None = None,
        field_validation: FieldValidation | None = None,
    ) -> T:
        """The object as it is after the change. `force` takes fields from other managers."""
        options = write_options(
            dry_run=dry_run, field_manager=field_manager, field_validation=field_validation
        )
        request = request_for_one(
            "PATCH",
            resource,
            name,
            namespace,
            subresource,
            params={**options, "force": force},
            body=_patch_body(resource, name, patch, field_manager, forced=force is not None),
            content_type=patch.content_type,
        )
        return await self._read(resource, request)

    async def patch_status(
        self,
        resource: Resource[T],
        name: str,
        patch: Patch,
        namespace: str | None = None,
        *,
        dry_run: bool = False,
        field_manager: str | None = None,
        force: bool | None = None,
    ) -> T:
        return await self.patch(
            resource,
            name,
            patch,
            namespace,
            subresource="status",
            dry_run=dry_run,
            field_manager=field_manager,
            force=force,
        )

    async def replace(
        self,
        resource: Resource[dict[str, Any]],
        name: str,
        obj: Mapping[str, Any],
        namespace: str | None = None,
        *,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str | None = None,
        field_validation: FieldValidation | None = None,
    ) -> dict[str, Any]:
        """Puts a whole object in place of another. Raw only: a typed one has lost fields."""
        options = write_options(
            dry_run=dry_run, field_manager=field_manager, field_validation=field_validation
        )
        request = request_for_one(
            "PUT",
            resource,
            name,
            namespace,
            subresource,
            params=options,
            body=body_of(object_of(obj, resource)),
        )
        return await self._read(resource, request)

    async def delete(
        self,
        resource: Resource[T],
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        propagation: Propagation | None = None,
        grace_period_s: int | None = None,
        dry_run: bool = False,
    ) -> T | None:
        """None when it is gone, or the object as long as a finalizer or a grace period holds it.

        With `uid` or `resource_version`: only if it is that very object, else `Conflict`.
        """
        options = delete_options(
            uid=uid,
            resource_version=resource_version,
            propagation=propagation,
            grace_period_s=grace_period_s,
            dry_run=dry_run,
        )
        request = request_for_one(
            "DELETE", resource, name, namespace, body=body_of(options), accept=JSON
        )
        body = await self._call(request)
        return None if status_in(body) else self._decoder(resource).one(body)

    async def delete_collection(
        self,
        resource: Resource[Any],
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
        propagation: Propagation | None = None,
        grace_period_s: int | None = None,
        dry_run: bool = False,
    ) -> None:
        """Deletes all that the selectors pick, in one namespace."""
        require_namespace(resource, namespace)
        options = delete_options(
            propagation=propagation, grace_period_s=grace_period_s, dry_run=dry_run
        )
        request = request_for_many(
            "DELETE",
            resource,
            namespace,
            params={"labelSelector": label_selector, "fieldSelector": field_selector},
            body=body_of(options),
        )
        await self._call(request)

    async def get_scale(
        self, resource: Resource[Any], name: str, namespace: str | None = None
    ) -> Scale:
        scale = resource.read_as(Scale)
        return await self._read(scale, request_for_one("GET", scale, name, namespace, "scale"))

    async def patch_scale(
        self,
        resource: Resource[Any],
        name: str,
        replicas: int,
        namespace: str | None = None,
        *,
        resource_version: str | None = None,
        dry_run: bool = False,
        field_manager: str | None = None,
    ) -> Scale:
        """With `resource_version`: only if nobody changed the object since, else `Conflict`."""
        version = {"metadata": {"resourceVersion": resource_version}} if resource_version else {}
        return await self.patch(
            resource.read_as(Scale),
            name,
            MergePatch({**version, "spec": {"replicas": replicas}}),
            namespace,
            subresource="scale",
            dry_run=dry_run,
            field_manager=field_manager,
        )


def _patch_body(
    resource: Resource[Any], name: str, patch: Patch, field_manager: str | None, *, forced: bool
) -> bytes:
    if not isinstance(patch, Apply):
        if forced:
            raise ValueError("only an apply can be forced")
        return body_of(data_of(patch.body))
    if not field_manager:
        raise ValueError("an apply needs a field manager: who wants these fields?")
    intent = object_of(patch.body, resource)
    return body_of({**intent, "metadata": {**intent.get("metadata", {}), "name": name}})
