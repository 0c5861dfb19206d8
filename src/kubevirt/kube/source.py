"""Where an informer gets its objects: a list in pages, then a watch.

`Client` is one source. In-process doubles are others; they make the same promises:

- `pages` yields at least one page. A page with `is_first` begins the list: what came before it is
  void. It comes a second time when the server forgot the list while it was being read (410).
- `watch` ends normally when the server closes the stream, which it does every few minutes. It raises
  `Expired` when `resource_version` is too old (list again), another `ApiError` when the server says
  so, and `Unreachable` when the stream breaks, also in the middle of an event.
- Both are async generators: leave them through `contextlib.aclosing`, so that the connection is
  given back at once and not when the garbage collector comes by.
"""

from collections.abc import AsyncGenerator
from typing import Generic, Protocol, TypeVar

import msgspec

from kubevirt.api.resource import Resource
from kubevirt.kube.watch import Undecodable, WatchEvent

T = TypeVar("T")


class ObjectList(msgspec.Struct, Generic[T], kw_only=True):
    """A list, or one page of it."""

    items: list[T]
    resource_version: str
    """Of the whole list, the same on every page: where a watch continues it."""

    undecodable: list[Undecodable] = []
    """Objects that are in the list but do not fit its type; they are not among `items`."""

    is_first: bool = True
    """Begins the list: forget earlier pages."""

    remaining: int | None = None
    """How many objects are still to come, when the server says so; for progress, not for logic."""


class Source(Protocol):
    def pages(
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
        """All objects, `limit` at a time; `namespace` None means all namespaces.

        `resource_version` "0" allows any cached state, None asks for the newest.
        """
        ...

    def watch(
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
        """All changes after `resource_version`, until the server closes the stream.

        `timeout_s` asks the server to close it after that time; a silent stream is given up a little
        later. With `send_initial_events` (and `resource_version_match` NotOlderThan) the stream
        begins with all objects as ADDED, then the bookmark with `initial_events_end`.
        """
        ...
