"""Brings an installation into a cluster: what `virt.install` says, in its order, by server-side apply.

    done = await install(client, Options(authority=pem), clock)

Applied twice, it changes nothing: the second time one word is compared and nothing is asked any more. Fields that
others have set stay theirs, but for those that we set too. The KubeVirt object is the user's: what somebody else has
changed in it stays as they want it.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from itertools import filterfalse
from typing import Any, Final

import msgspec

from kubevirt.api import crds, scheme
from kubevirt.api.resource import Resource
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.base.log import get_logger
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApplyConflict, NoSuchResource, NotFound, ServiceUnavailable
from kubevirt.kube.patches import Apply
from kubevirt.virt.install import digest
from kubevirt.virt.install.objects import objects, others
from kubevirt.virt.install.options import NAME, Options

log = get_logger(__name__)

MANAGER: Final = "kubevirt-install"
"""The owner of our fields."""
SERVED_S: Final = 60.0
"""For a server to serve a kind that it was told of."""
_LOOK_EVERY_S: Final = 0.05
_AT_ONCE: Final = 4

Object = dict[str, Any]

_RESOURCES: Final = {
    (each.api_version, each.kind): each.raw
    for each in (
        scheme.CUSTOM_RESOURCE_DEFINITIONS,
        scheme.NAMESPACES,
        scheme.PRIORITY_CLASSES,
        scheme.SERVICE_ACCOUNTS,
        scheme.CLUSTER_ROLES,
        scheme.ROLES,
        scheme.CLUSTER_ROLE_BINDINGS,
        scheme.ROLE_BINDINGS,
        scheme.SERVICES,
        scheme.API_SERVICES,
        scheme.MUTATING_WEBHOOKS,
        scheme.VALIDATING_WEBHOOKS,
        scheme.CONFIG_MAPS,
        scheme.KUBEVIRTS,
    )
}


class Installed(msgspec.Struct, frozen=True):
    digest: str
    is_new: bool
    """Whether there was anything to apply."""


async def install(client: Client, options: Options, clock: Clock) -> Installed:
    """Everything is served when it returns. Raises `Retry` if it is not in time."""
    word = digest.digest(crds.contents(), others(options))
    if await _is_installed(client, options, word):
        return Installed(word, is_new=False)
    everything = objects(options, crds.load())
    kinds = list(filter(_is_definition, everything))
    *wanted, settings = filterfalse(_is_definition, everything)
    async with asyncio.TaskGroup() as tasks:
        turn = asyncio.Semaphore(_AT_ONCE)
        for each in kinds:
            tasks.create_task(_in_turn(turn, client, each))
    for each in wanted:
        await _apply(client, each)
    await _served(client, kinds, clock)
    await _offer(client, settings)
    await _apply(client, digest.record(word, options))
    log.info("installed", digest=word)
    return Installed(word, is_new=True)


def _is_definition(wanted: Object) -> bool:
    return bool(wanted["kind"] == scheme.CUSTOM_RESOURCE_DEFINITIONS.kind)


async def _is_installed(client: Client, options: Options, word: str) -> bool:
    """By the word that was left behind last; a KubeVirt object that somebody deleted comes again."""
    try:
        found = await client.get(scheme.CONFIG_MAPS.raw, digest.NAME, options.namespace)
        if (found.get("data") or {}).get(digest.KEY) != word:
            return False
        await client.get(scheme.KUBEVIRTS.metadata_only, NAME, options.namespace)
    except NotFound:
        return False
    return True


async def _in_turn(turn: asyncio.Semaphore, client: Client, wanted: Object) -> None:
    async with turn:
        await _apply(client, wanted)


async def _apply(client: Client, wanted: Object) -> None:
    await _patch(client, wanted, force=True)


async def _offer(client: Client, wanted: Object) -> None:
    """To the user, who may have decided otherwise."""
    try:
        await _patch(client, wanted, force=False)
    except ApplyConflict as error:
        log.info("the KubeVirt object stays as others want it", conflict=str(error))


async def _patch(client: Client, wanted: Object, *, force: bool) -> None:
    resource = _RESOURCES[wanted["apiVersion"], wanted["kind"]]
    metadata = wanted["metadata"]
    await client.patch(
        resource,
        metadata["name"],
        Apply(wanted),
        metadata.get("namespace"),
        field_manager=MANAGER,
        force=force,
    )


async def _served(client: Client, kinds: Iterable[Object], clock: Clock) -> None:
    """A kind is Established a moment before it is served: whoever is answered knows it is both."""
    waiting = list(_versions(kinds))
    try:
        async with clock.timeout(SERVED_S):
            while waiting := await _unserved(client, waiting):
                await clock.sleep(_LOOK_EVERY_S)
    except TimeoutError:
        names = ", ".join(sorted({each.group_resource for each in waiting}))
        raise Retry(f"the server does not serve {names} yet, after {SERVED_S:g} s") from None


async def _unserved(client: Client, waiting: Sequence[Resource[Any]]) -> list[Resource[Any]]:
    return [each for each in waiting if not await _is_served(client, each)]


async def _is_served(client: Client, resource: Resource[Any]) -> bool:
    try:
        async for _ in client.pages(resource.metadata_only, limit=1):
            break
    except (NoSuchResource, ServiceUnavailable):
        return False
    return True


def _versions(kinds: Iterable[Object]) -> Iterator[Resource[Any]]:
    for each in kinds:
        spec = each["spec"]
        for version in spec["versions"]:
            if version["served"]:
                yield Resource(
                    spec["group"],
                    version["name"],
                    spec["names"]["plural"],
                    spec["names"]["kind"],
                    spec["scope"] == "Namespaced",
                    Object,
                )
