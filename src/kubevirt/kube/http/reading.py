"""The verbs that read: get, list, watch. A `Reading` is a `source.Source` for informers."""

import random
from collections.abc import AsyncGenerator
from typing import Any, TypeVar

from kubevirt.api.resource import Resource
from kubevirt.kube.errors import Expired, Garbled
from kubevirt.kube.http import failures
from kubevirt.kube.http.calls import (
    METADATA_ONLY,
    METADATA_ONLY_LIST,
    Calls,
    accepting,
    request_for_many,
    request_for_one,
)
from kubevirt.kube.http.lines import Lines
from kubevirt.kube.http.transport import ReadSome
from kubevirt.kube.source import ObjectList
from kubevirt.kube.watch import WatchEvent

T = TypeVar("T")

EVENT_LIMIT = 64 << 20
"""Bytes of one event. The largest object that a server stores is a fiftieth of it."""


class Reading(Calls):
    async def get(
        self,
        resource: Resource[T],
        name: str,
        namespace: str | None = None,
        *,
        subresource: str = "",
    ) -> T:
        request = request_for_one("GET", resource, name, namespace, subresource)
        return await self._read(resource, request)

    async def list(
        self,
        resource: Resource[T],
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
        limit: int = 500,
        resource_version: str | None = None,
        resource_version_match: str | None = None,
    ) -> ObjectList[T]:
        """All objects, fetched `limit` at a time; `namespace` None means all namespaces."""
        whole: ObjectList[T] = ObjectList(items=[], resource_version="")
        async for page in self.pages(
            resource,
            namespace,
            label_selector=label_selector,
            field_selector=field_selector,
            limit=limit,
            resource_version=resource_version,
            resource_version_match=resource_version_match,
        ):
            if page.is_first:
                whole = page
            else:
                whole.items += page.items
                whole.undecodable += page.undecodable
        whole.remaining = None
        return whole

    async def pages(
        self,
        resource: Resource[T],
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
        limit: int = 500,
        resource_version: str | None = None,
        resource_version_match: str | None = None,
    ) -> AsyncGenerator[ObjectList[T], None]:
        """A list, page by page; see `source.Source` for what a reader must know."""
        selection = {"labelSelector": label_selector, "fieldSelector": field_selector}
        beginning = {
            "resourceVersion": resource_version,
            "resourceVersionMatch": resource_version_match,
        }
        token = ""
        while True:
            # A token stands for the version too, and the server refuses to be told it twice.
            position = {"continue": token} if token else beginning
            request = request_for_many(
                "GET",
                resource,
                namespace,
                params={**selection, **position, "limit": limit or None},
                accept=accepting(resource, METADATA_ONLY_LIST),
            )
            try:
                body = await self._call(request)
            except Expired:
                if not token:
                    raise
                # Begin again, and ask for all at once: what is not cut in pieces cannot expire.
                token, limit = "", 0
                continue
            page, next_token = self._decoder(resource).page(body)
            page.is_first = not token
            token = next_token
            yield page
            if not token:
                return

    async def watch(
        self,
        resource: Resource[T],
        namespace: str | None = None,
        *,
        resource_version: str | None,
        label_selector: str = "",
        field_selector: str = "",
        allow_bookmarks: bool = True,
        send_initial_events: bool | None = None,
        resource_version_match: str | None = None,
        timeout_s: int | None = None,
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Changes as they happen; see `source.Source` for how it ends."""
        clock, limits = self._transport.clock, self._transport.limits
        if timeout_s is None:
            timeout_s = random.randint(limits.watch_s, 2 * limits.watch_s)  # noqa: S311  # no secret
        request = request_for_many(
            "GET",
            resource,
            namespace,
            params={
                "watch": True,
                "resourceVersion": resource_version,
                "labelSelector": label_selector,
                "fieldSelector": field_selector,
                "allowWatchBookmarks": allow_bookmarks or None,
                "sendInitialEvents": send_initial_events,
                "resourceVersionMatch": resource_version_match,
                "timeoutSeconds": timeout_s,
            },
            accept=accepting(resource, METADATA_ONLY),
        )
        decoder = self._decoder(resource)
        lines = Lines()
        give_up_at = clock.monotonic() + timeout_s + limits.watch_grace_s
        async with self._transport.stream(request, self._on_warning) as read_some:
            # The time limit never spans a `yield`: it must not interrupt what the reader does.
            while piece := await self._in_time(read_some, resource, give_up_at):
                for line in lines.feed(piece):
                    yield decoder.event(line)
                if len(lines.rest) > EVENT_LIMIT:
                    raise Garbled(resource.group_resource, "an event has no end")
        if lines.rest.strip():
            raise failures.cut_off(self._transport.config.server, f"an event of {resource.plural}")

    async def _in_time(
        self, read_some: ReadSome, resource: Resource[Any], give_up_at: float
    ) -> bytes:
        """A server that lives closes a watch when its time is over; one that does not has hung."""
        clock = self._transport.clock
        left_s = max(give_up_at - clock.monotonic(), 1.0)
        try:
            async with clock.timeout(left_s):
                return await read_some()
        except TimeoutError:
            raise failures.silent(
                self._transport.config.server, f"watch of {resource.group_resource}"
            ) from None
