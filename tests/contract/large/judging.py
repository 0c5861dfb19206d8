"""One object of a custom kind, judged by the server and by the pure functions: both must say the same."""

from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any

import msgspec
from tests.contract.pure_server import PureServer, Refusal
from tests.contract.twins import APPLY, refused, seen

from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

Object = dict[str, Any]
BY = "judge"
_MADE_BY_SERVERS = ("creationTimestamp", "generation", "managedFields")


class Judge:
    """What comes out is the object as it is kept, or the refusal with its causes."""

    def __init__(
        self, client: Client, definition: Object, pure: PureServer, name: str, version: str = ""
    ) -> None:
        """Of `pure` a copy is taken: a large schema is compiled once."""
        spec = definition["spec"]
        version = version or spec["versions"][0]["name"]
        self._client = client
        self._pure = copy(pure)
        self._api_version = f"{spec['group']}/{version}"
        self._kind: str = spec["names"]["kind"]
        self._name = name
        is_namespaced = spec["scope"] == "Namespaced"
        self._home = {"namespace": "default"} if is_namespaced else {}
        within = "/namespaces/default" if is_namespaced else ""
        self._path = f"/apis/{self._api_version}{within}/{spec['names']['plural']}"

    def object(self, parts: Object) -> Object:
        metadata = {"name": self._name, **self._home}
        return {
            "apiVersion": self._api_version,
            "kind": self._kind,
            **parts,
            "metadata": {**metadata, **parts.get("metadata", {})},
        }

    async def creation(self, parts: Object, *, strict: bool, dry_run: bool = True) -> Object:
        """Of an object that is not there; after a dry run it still is not."""
        body = self.object(parts)
        params = {
            "fieldManager": BY,
            "fieldValidation": "Strict" if strict else "Ignore",
            **({"dryRun": "All"} if dry_run else {}),
        }
        expected = await self._asked("POST", self._path, body, params)
        found = self._written(body, strict=strict)
        if dry_run:
            self._pure.live = None
        return _same(found, expected)

    async def replacement(self, change: Callable[[Object], Object]) -> Object:
        """Of the object that is there by what `change` makes of it; a dry run."""
        path = f"{self._path}/{self._name}"
        body = change(msgspec.json.decode(await self._client.raw("GET", path)))
        params = {"fieldManager": BY, "fieldValidation": "Strict", "dryRun": "All"}
        expected = await self._asked("PUT", path, body, params)
        pure = deepcopy(body)
        pure["metadata"] |= {"uid": "1", "resourceVersion": "1"}
        for name in _MADE_BY_SERVERS:
            pure["metadata"].pop(name, None)
        before = self._pure.live
        found = self._written(pure, strict=True)
        self._pure.live = before
        return _same(found, expected)

    async def application(self, by: str, parts: Object, *, force: bool = False) -> Object:
        body = self.object(parts)
        params = {"fieldManager": by, **({"force": "true"} if force else {})}
        path = f"{self._path}/{self._name}"
        expected = await self._asked("PATCH", path, body, params, APPLY)
        found = self._tried(
            lambda: self._pure.apply(body, by=by, api_version=self._api_version, force=force)
        )
        return _same(found, expected)

    def _written(self, body: Object, *, strict: bool) -> Object:
        return self._tried(
            lambda: self._pure.write(body, by=BY, api_version=self._api_version, strict=strict)
        )

    def _tried(self, write: Callable[[], Object]) -> Object:
        try:
            return seen(write())
        except Refusal as refusal:
            return refused(refusal.message, refusal.causes)

    async def _asked(
        self,
        method: str,
        path: str,
        body: Object,
        params: dict[str, str],
        content_type: str = "application/json",
    ) -> Object:
        try:
            answer = await self._client.raw(
                method, path, body, params=params, content_type=content_type
            )
        except ApiError as error:
            causes = {(cause.reason, cause.field, cause.message) for cause in error.causes}
            return refused(error.status.message, causes)
        return seen(msgspec.json.decode(answer))


def _same(found: Object, expected: Object) -> Object:
    assert found == expected, f"\nfound    {found}\nexpected {expected}"
    return found
