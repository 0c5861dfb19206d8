"""Waiting until an object is as it was asked to be, by a watch, with a limit."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import Any, Final

from kubevirt.api.resource import Resource
from kubevirt.base.errors import Unreachable, UserError
from kubevirt.cli.asking import Session
from kubevirt.kube.errors import Expired, Overloaded
from kubevirt.kube.watch import EventType

AGAIN_S: Final = 1.0

Object = Mapping[str, Any]
Wanted = Callable[[Object | None], bool]
"""Of an object as it is now; None where there is none."""


async def until(
    session: Session,
    resource: Resource[Any],
    name: str,
    namespace: str,
    wanted: Wanted,
    *,
    what: str,
    timeout_s: float,
) -> Object | None:
    """The object, once it is as wanted. `what` ends the sentence `NAME is not …`."""
    seen = _Seen()
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                try:
                    return await _followed(session, resource.raw, name, namespace, wanted, seen)
                except (Expired, _Ended):
                    continue
                except (Unreachable, Overloaded):
                    if not seen.is_listed:
                        raise
                    # It answered before, so it is likely to come back: a server is restarted in seconds.
                    await asyncio.sleep(AGAIN_S)
    except TimeoutError:
        raise UserError(
            f"{resource.kind} {name} is not {what} after {timeout_s:g} s: {_story(seen.object)}",
            reason="Timeout",
        ) from None


class _Seen:
    """The last that was heard, for who waited in vain."""

    object: Object | None = None
    is_listed: bool = False


class _Ended(Exception):  # noqa: N818  # a watch ends every few minutes; it is no error
    pass


async def _followed(
    session: Session,
    resource: Resource[dict[str, Any]],
    name: str,
    namespace: str,
    wanted: Wanted,
    seen: _Seen,
) -> Object | None:
    selector = f"metadata.name={name}"
    listed = await session.client.list(resource, namespace, field_selector=selector)
    seen.object = listed.items[0] if listed.items else None
    seen.is_listed = True
    if wanted(seen.object):
        return seen.object
    events = session.client.watch(
        resource, namespace, resource_version=listed.resource_version, field_selector=selector
    )
    async with aclosing(events):
        async for event in events:
            if event.type is EventType.BOOKMARK or not isinstance(event.object, dict):
                continue
            seen.object = None if event.type is EventType.DELETED else event.object
            if wanted(seen.object):
                return seen.object
    raise _Ended


def _story(found: Object | None) -> str:
    """How it is, in its own words."""
    if found is None:
        return "it does not exist"
    status = found.get("status", {})
    how = status.get("printableStatus") or status.get("phase") or "it has no status yet"
    reasons = [
        each["message"]
        for each in status.get("conditions", ())
        if each.get("status") != "True" and each.get("message")
    ]
    return f"it is {how} ({'; '.join(reasons)})" if reasons else f"it is {how}"


# What is waited for.


def condition(found: Object | None, kind: str) -> str:
    """The status of a condition: True, False, Unknown, or nothing."""
    conditions = (found or {}).get("status", {}).get("conditions", ())
    return next((str(each["status"]) for each in conditions if each["type"] == kind), "")


def message(found: Object | None, kind: str) -> str:
    """What a condition says."""
    conditions = (found or {}).get("status", {}).get("conditions", ())
    return next((str(each.get("message", "")) for each in conditions if each["type"] == kind), "")


def printable(found: Object | None) -> str:
    return str((found or {}).get("status", {}).get("printableStatus", ""))


def phase(found: Object | None) -> str:
    return str((found or {}).get("status", {}).get("phase", ""))


def uid(found: Object | None) -> str:
    return str((found or {}).get("metadata", {}).get("uid", ""))
