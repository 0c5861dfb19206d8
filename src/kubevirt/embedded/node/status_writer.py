"""Writes the status of one pod: the newest that was decided, no write where nothing changed, one at a time."""

import asyncio
from contextlib import suppress

from kubevirt.api.core.pod import Pod, PodStatus
from kubevirt.api.scheme import PODS
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError, Retry
from kubevirt.base.log import get_logger
from kubevirt.embedded.node import pod_status
from kubevirt.embedded.node.pod_status import Data
from kubevirt.kube.cache.resource_version import is_older
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.patches import StrategicMergePatch

log = get_logger(__name__)

_RETRY_S = 1.0
_REFUSED_S = 10.0


class StatusWriter:
    def __init__(self, client: Client, clock: Clock, pod: Pod, coalescing_s: float) -> None:
        self._client = client
        self._clock = clock
        self._coalescing_s = coalescing_s
        self._metadata = pod.metadata
        self._version = pod.metadata.resource_version
        self._known: Data = pod_status.data(pod.status)
        self._wanted: Data = self._known
        self._is_gone = False
        self._called = asyncio.Event()
        self._hurried = asyncio.Event()
        self._settled = asyncio.Event()
        self._settled.set()

    def learn(self, pod: Pod) -> None:
        """What the server has, unless it is older than what we wrote ourselves."""
        if self._version == pod.metadata.resource_version:
            return
        if not is_older(pod.metadata.resource_version, self._version):
            self._version = pod.metadata.resource_version
            self._known = pod_status.data(pod.status)

    def want(self, status: PodStatus, *, is_urgent: bool) -> None:
        self._wanted = pod_status.data(status)
        if self._is_gone or not self._difference():
            return
        self._settled.clear()
        self._called.set()
        if is_urgent:
            self._hurried.set()

    def forget(self) -> None:
        """There is no object to write to any more."""
        self._is_gone = True
        self._settled.set()

    async def flush(self) -> None:
        """Returns when what is wanted is written, or the server does not want it."""
        self._hurried.set()
        await self._settled.wait()

    async def run(self) -> None:
        while True:
            await self._called.wait()
            self._called.clear()
            with suppress(TimeoutError):
                async with self._clock.timeout(self._coalescing_s):
                    await self._hurried.wait()
            self._hurried.clear()
            await self._write_all()

    async def _write_all(self) -> None:
        while not self._is_gone and (patch := self._difference()):
            wanted = self._wanted
            try:
                await self._write(patch, wanted)
            except (NotFound, Retry):  # if it is gone, we are about to hear of it
                await self._clock.sleep(_RETRY_S)
            except KubevirtError as error:
                log.warning("status of a pod not written", pod=self._metadata.name, error=error)
                self._settled.set()  # whoever waits for it would wait for ever
                await self._clock.sleep(_REFUSED_S)
        self._settled.set()

    async def _write(self, patch: Data, wanted: Data) -> None:
        body = {"metadata": {"uid": self._metadata.uid}, "status": patch}
        answer = await self._client.patch_status(
            PODS,
            self._metadata.name or "",
            StrategicMergePatch(body),
            self._metadata.namespace,
        )
        if not is_older(answer.metadata.resource_version, self._version):
            self._version = answer.metadata.resource_version
        # Believed as it was sent: a field that the server leaves off must not be sent for ever.
        self._known = wanted

    def _difference(self) -> Data:
        return pod_status.difference(self._known, self._wanted)
