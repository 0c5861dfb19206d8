"""How KubeVirt's programs are, in the status of the KubeVirt object: what `kubectl get kubevirt` and scripts look at.

In a cluster the operator writes it. It is written when something changes, and never else.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import kubevirt
from kubevirt.api.resource import Resource
from kubevirt.api.scheme import KUBEVIRTS
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.embedded.programs.kept import Kept
from kubevirt.kube.patches import MergePatch, Patch
from kubevirt.virt.install.options import NAME, NAMESPACE

log = get_logger(__name__)

AGAIN_S: Final = 5.0
_MESSAGE_LIMIT: Final = 1024

Object = dict[str, Any]
T = TypeVar("T")


class Client(Protocol):
    """What is asked of one."""

    async def get(self, resource: Resource[T], name: str, namespace: str | None = None) -> T: ...

    async def patch_status(
        self, resource: Resource[T], name: str, patch: Patch, namespace: str | None = None
    ) -> T: ...


class Standing:
    def __init__(
        self, client: Client, programs: Sequence[Kept], news: asyncio.Event, clock: Clock
    ) -> None:
        self._client = client
        self._programs = programs
        self._news = news
        self._clock = clock

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await self._news.wait()
            self._news.clear()
            try:
                await self._write()
            except KubevirtError as error:
                log.warning("the status of KubeVirt cannot be written", error=error)
                await self._clock.sleep(AGAIN_S)
                self._news.set()

    async def _write(self) -> None:
        found = await self._client.get(KUBEVIRTS.raw, NAME, NAMESPACE)
        before = found.get("status") or {}
        after = self._status(before.get("conditions") or [], found["metadata"].get("generation"))
        if any(before.get(key) != value for key, value in after.items()):
            patch = MergePatch({"status": after})
            await self._client.patch_status(KUBEVIRTS.raw, NAME, patch, NAMESPACE)

    def _status(self, before: Sequence[Object], generation: int | None) -> Object:
        version = kubevirt.__version__
        said = _said(self._programs)
        return {
            "phase": "Deployed" if said[0].status == "True" else "Deploying",
            "observedGeneration": generation,
            "observedKubeVirtVersion": version,
            "targetKubeVirtVersion": version,
            "operatorVersion": version,
            "conditions": [self._condition(before, each) for each in said],
        }

    def _condition(self, before: Sequence[Object], said: "_Said") -> Object:
        old = next((each for each in before if each.get("type") == said.type), {})
        since = old.get("lastTransitionTime") if old.get("status") == said.status else None
        return {
            **said._asdict(),
            "message": said.message[:_MESSAGE_LIMIT],
            "lastTransitionTime": since or f"{self._clock.now():%Y-%m-%dT%H:%M:%SZ}",
        }


class _Said(NamedTuple):
    type: str
    status: str
    reason: str = "AllComponentsReady"
    message: str = "All components are ready."


def _said(programs: Sequence[Kept]) -> Sequence[_Said]:
    """In KubeVirt's words, whether all are at work first."""
    troubles = "; ".join(f"{each.name}: {each.trouble}" for each in programs if each.trouble)
    waiting = ", ".join(each.name for each in programs if not each.is_at_work)
    created = _Said("Created", "True", "AllResourcesCreated", "All resources were created.")
    if not waiting:
        return (
            _Said("Available", "True", message=_all_ready(programs)),
            _Said("Progressing", "False"),
            _Said("Degraded", "False"),
            created,
        )
    not_yet = ("DeploymentInProgress", f"Not ready: {waiting}.")
    if not troubles:
        return (
            _Said("Available", "False", *not_yet),
            _Said("Progressing", "True", *not_yet),
            _Said("Degraded", "False", *not_yet),
            created,
        )
    failed = ("DeploymentFailed", troubles)
    return (
        _Said("Available", "False", *failed),
        _Said("Progressing", "False", *failed),
        _Said("Degraded", "True", *failed),
        created,
    )


def _all_ready(programs: Sequence[Kept]) -> str:
    """With the processes of those that have their own."""
    own = ", ".join(f"{each.name} is process {each.pid}" for each in programs if each.pid)
    return f"All components are ready: {own}." if own else "All components are ready."
