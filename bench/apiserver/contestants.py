"""The two servers: ours, and Kubernetes' own with etcd. Both are durable, write an audit log and have
their data in a temporary folder of the same disk.
"""

import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Protocol

from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer

OURS = "kubevirt-py"
KUBERNETES = "kube-apiserver and etcd"
CONTROLLERS = "serviceaccount-controller"
"""Those that would follow the VMIs too compete with the server for the processor."""


class Contestant(Protocol):
    name: str

    @property
    def kubeconfig(self) -> Path: ...

    @property
    def pids(self) -> Mapping[str, int]:
        """Of the programs that make it up."""
        ...

    async def start_again(self) -> float:
        """Ends it and starts it on the same data; the seconds from its start until it is ready."""
        ...


class Ours:
    name = OURS

    def __init__(self, server: EmbeddedServer) -> None:
        self._server = server

    @property
    def kubeconfig(self) -> Path:
        return self._server.kubeconfig

    @property
    def pids(self) -> Mapping[str, int]:
        return {"kubevirt.apiserver": self._server.pid}

    async def start_again(self) -> float:
        await self._server.kill_apiserver()
        began = time.perf_counter()
        await self._server.start_apiserver()
        return time.perf_counter() - began


class Kubernetes:
    name = KUBERNETES

    def __init__(self, cluster: LightCluster) -> None:
        self._cluster = cluster

    @property
    def kubeconfig(self) -> Path:
        return self._cluster.kubeconfig

    @property
    def pids(self) -> Mapping[str, int]:
        return {name: self._cluster.pid(name) for name in ("kube-apiserver", "etcd")}

    async def start_again(self) -> float:
        await self._cluster.kill_apiserver()
        await self._cluster.stop_etcd()
        began = time.perf_counter()
        await self._cluster.start_etcd()
        await self._cluster.start_apiserver()
        return time.perf_counter() - began


@contextlib.asynccontextmanager
async def both() -> AsyncIterator[tuple[Ours, Kubernetes]]:
    async with (
        EmbeddedServer(has_audit_log=True) as ours,
        LightCluster(controllers=CONTROLLERS, is_durable=True, collects_garbage=True) as theirs,
    ):
        yield Ours(ours), Kubernetes(theirs)
