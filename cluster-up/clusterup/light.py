"""A light cluster: etcd, API server and controller-manager, for tests that speak to the API.

It needs no root, touches nothing but a temporary folder and four ports of the loopback address,
and any number of them run side by side. Its programs die with the thread that started them.

    async with LightCluster() as cluster:
        client = await connect(cluster.kubeconfig)

Nodes and pods that run are in `cluster.py`. A scheduler comes only where it is asked for: most tests want
their pods left alone.
"""

import asyncio
import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from clusterup import (
    binaries,
    controlplane,
    errors,
    kubeconfigs,
    people,
    pki,
    ports,
    processes,
    progress,
    settings,
    waiting,
)

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
_START_LIMIT_S = 300.0
"""A cold machine with busy cores; the usual time is a few seconds."""
_HEAP = {"GOGC": "off", "GOMEMLIMIT": "700MiB"}
"""For a Go program: garbage is collected when there is that much of it."""


class LightCluster(people.People):
    """One light cluster; an async context manager, or `start` and `stop` by hand."""

    def __init__(
        self,
        *,
        provider: str = settings.KUBERNETES,
        aggregator_routing: bool = False,
        controllers: str = "*",
        has_scheduler: bool = False,
        api_flags: Mapping[str, str] | None = None,
        manager_flags: Mapping[str, str] | None = None,
        is_durable: bool = False,
        collects_garbage: bool = False,
        keep_folder: bool = False,
    ) -> None:
        """`aggregator_routing` sends calls for a service to its endpoints, as a whole cluster does;
        off, a service of type ExternalName can name a server on the loopback address, which no
        endpoint may. `controllers` and the flags are handed to the programs. `is_durable` has etcd
        wait for the disk. Its programs live for minutes and take memory instead of collecting garbage,
        unless they are to be measured: `collects_garbage`. `keep_folder` leaves logs and data behind for a
        post-mortem.
        """
        self._provider = provider
        self._aggregator_routing = aggregator_routing
        self._controllers = controllers
        self._has_scheduler = has_scheduler
        self._api_flags = dict(api_flags or {})
        self._manager_flags = dict(manager_flags or {})
        self._is_durable = is_durable
        self._environment = processes.plain_environment(**({} if collects_garbage else _HEAP))
        self._keep_folder = keep_folder
        self._ports: list[ports.Port] = []
        self._plane: controlplane.ControlPlane | None = None
        self._folder: Path | None = None
        self._daemons: dict[str, processes.Daemon] = {}

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    # What others need to know.

    @property
    def url(self) -> str:
        return self._running().url

    @property
    def folder(self) -> Path:
        """Everything of this cluster: data, logs, certificates."""
        self._running()
        assert self._folder is not None  # noqa: S101  # set together with the control plane
        return self._folder

    @property
    def audit_log(self) -> Path:
        """One JSON object per line, written before the answer goes out."""
        return self._running().audit_log

    @property
    def kubectl(self) -> Path:
        return self._running().programs.path("kubectl")

    def log(self, program: str) -> Path:
        return self.folder / f"{program}.log"

    def pid(self, program: str) -> int:
        pid = self._daemons[program].pid
        assert pid is not None  # noqa: S101  # they are started as they are written down
        return pid

    def audit_events(self) -> list[dict[str, Any]]:
        lines = self.audit_log.read_text().splitlines()
        return [json.loads(line) for line in lines]

    # Life.

    async def start(self) -> None:
        """Return when the API server is ready and pods can be created (their service account is
        there). Whatever goes wrong on the way, nothing is left behind.
        """
        if self._plane is not None:
            raise errors.ClusterError("this light cluster is running already; stop it first")
        programs = binaries.Binaries(
            settings.PROVIDERS / self._provider, settings.cache_folder(os.environ)
        )
        await programs.ensure(PROGRAMS, progress.Progress("light cluster", sys.stderr))
        try:
            self._prepare(programs)
            await self._start_programs()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """End everything and forget it; harmless when nothing runs."""
        # By force: nobody will read what a graceful end would save.
        await asyncio.gather(*(daemon.kill() for daemon in self._daemons.values()))
        self._daemons.clear()
        for port in self._ports:
            port.release()
        self._ports.clear()
        if self._folder and not self._keep_folder:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = self._plane = None

    async def kill_apiserver(self) -> None:
        """`kill -9`: connections break without a word."""
        await self._daemons["kube-apiserver"].kill()

    async def start_apiserver(self) -> None:
        """Start it again, on the same port, and wait until it is ready."""
        self._daemons["kube-apiserver"].start()
        await self._wait_for_api()

    async def stop_etcd(self) -> None:
        await self._daemons["etcd"].stop()

    async def start_etcd(self) -> None:
        self._daemons["etcd"].start()
        await self._wait_for_etcd()

    async def restart_etcd(self) -> None:
        """Stop etcd, start it again on the same data, and wait until the API server is ready."""
        await self.stop_etcd()
        await self.start_etcd()
        await self._wait_for_api()

    # Inside.

    def _prepare(self, programs: binaries.Binaries) -> None:
        self._folder = folder = Path(tempfile.mkdtemp(prefix="kubevirt-light-"))
        self._ports = [ports.take() for _ in range(5 if self._has_scheduler else 4)]
        api_port, etcd_port, peer_port, manager_port, *more = (port.number for port in self._ports)
        self._plane = controlplane.ControlPlane(
            programs=programs,
            trust=pki.Pki.create(folder / "pki", server_names=[controlplane.SERVICE_API]),
            folder=folder,
            address=ports.LOOPBACK,
            port=api_port,
            etcd_port=etcd_port,
            etcd_peer_port=peer_port,
            manager_port=manager_port,
            scheduler_port=more[0] if more else None,
            publishes_itself=False,
            aggregator_routing=self._aggregator_routing,
            controllers=self._controllers,
            is_durable=self._is_durable,
            more_api_flags=self._api_flags,
            more_manager_flags=self._manager_flags,
        )
        self._plane.prepare()
        self._write_kubeconfigs(self._plane)

    def _write_kubeconfigs(self, plane: controlplane.ControlPlane) -> None:
        admin = plane.trust.authority().client("kubernetes-admin", [pki.ADMIN_GROUP])
        kubeconfigs.with_certificate(
            self.kubeconfig,
            server=plane.url,
            authority=plane.trust.ca_file.read_bytes(),
            client=admin,
        )
        for name in ("controller-manager", "scheduler"):
            plane.trust.kubeconfig(
                self.folder / f"{name}.kubeconfig", server=plane.url, user=f"system:kube-{name}"
            )

    async def _start_programs(self) -> None:
        plane = self._running()
        self._start("etcd", plane.etcd())
        await self._wait_for_etcd()
        self._start("kube-apiserver", plane.apiserver())
        await self._wait_for_api()
        # Not earlier: it ends by itself when the API server takes more than ten seconds.
        self._start(
            "kube-controller-manager",
            plane.controller_manager(self.folder / "controller-manager.kubeconfig"),
        )
        if self._has_scheduler:
            self._start("kube-scheduler", plane.scheduler(self.folder / "scheduler.kubeconfig"))
        path = "/api/v1/namespaces/default/serviceaccounts/default"
        await self._wait(lambda: self._admin.exists(path), "the first service account")

    def _start(self, name: str, argv: list[str]) -> None:
        self._daemons[name] = daemon = processes.Daemon(
            name, argv, self.log(name), self._environment
        )
        daemon.start()

    async def _wait_for_etcd(self) -> None:
        port = self._running().etcd_port

        async def listens() -> bool:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(ports.LOOPBACK, port)
                writer.close()
                return True
            return False

        await self._wait(listens, "etcd listens")

    async def _wait_for_api(self) -> None:
        await self._wait(self._admin.is_ready, "the API server is ready")

    async def _wait(self, probe: Any, what: str) -> None:
        async def alive_and_probe() -> bool:
            for daemon in self._daemons.values():
                daemon.check()
            return bool(await probe())

        await waiting.until(alive_and_probe, limit_s=_START_LIMIT_S, what=what)

    def _running(self) -> controlplane.ControlPlane:
        if self._plane is None:
            raise errors.ClusterError("this light cluster is not running; start it first")
        return self._plane

    def _known(self) -> people.Known:
        plane = self._running()
        return people.Known(
            url=plane.url,
            folder=self.folder,
            kubeconfig=self.folder / "kubeconfig",
            trust=plane.trust,
        )
