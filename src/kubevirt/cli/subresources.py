"""Calls of subresources.kubevirt.io: what a machine or an instance can be asked to do.

virt-api answers in words that tell what is wrong, so they are handed on as they are: also a 401, by which it
means that its caller may not, and also where the whole API is missing.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import aiohttp

from kubevirt.base.errors import UserError
from kubevirt.cli.asking import Session
from kubevirt.cli.targets import Target
from kubevirt.kube.errors import NoSuchResource, Unauthorized
from kubevirt.virt.commands.calls import GROUP, PROTOCOL, VERSIONS

BASE: Final = f"/apis/{GROUP}/{VERSIONS[0]}"
_NOBODY_KNOWN: Final = "Unauthorized"
"""What an API server says to somebody whom it does not know."""


def path_of(target: Target, subresource: str) -> str:
    return f"{BASE}/namespaces/{target.namespace}/{target.kind.plural}/{target.name}/{subresource}"


async def put(session: Session, target: Target, subresource: str, body: Any = None) -> None:
    with _in_its_words(session):
        await session.client.raw("PUT", path_of(target, subresource), body)


async def get(
    session: Session,
    target: Target,
    subresource: str,
    *,
    params: Mapping[str, Any] | None = None,
    accept: str = "application/json",
) -> bytes:
    with _in_its_words(session):
        return await session.client.raw(
            "GET", path_of(target, subresource), params=params, accept=accept
        )


async def raw(session: Session, method: str, path: str, body: Any = None) -> bytes:
    """Below the group, about no object."""
    with _in_its_words(session):
        return await session.client.raw(method, f"{BASE}/{path}", body)


@asynccontextmanager
async def connected(
    session: Session, target: Target, subresource: str, **params: Any
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """Bytes in both directions."""
    with _in_its_words(session):
        opening = session.client.websocket(path_of(target, subresource), [PROTOCOL], params=params)
        connection = await opening.__aenter__()
    try:
        yield connection
    finally:
        await opening.__aexit__(None, None, None)


@contextmanager
def _in_its_words(session: Session) -> Iterator[None]:
    try:
        yield
    except Unauthorized as error:
        said = error.status.message
        if not said or said == _NOBODY_KNOWN:
            raise
        raise UserError(said, reason="Forbidden") from None
    except NoSuchResource as error:
        said = error.status.message
        if "not found" in said:
            raise UserError(said, reason="NotFound") from None
        raise UserError(
            f"{session.server} does not serve {GROUP}: KubeVirt is not installed there, or virt-api does not"
            f" run; see: kubectl get apiservice v1.{GROUP}",
            reason="NotFound",
        ) from None
