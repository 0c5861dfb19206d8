"""Light, embedded: our API server as a program of its own, to be held to the same contract as Kubernetes'.

It looks like a light cluster to the tests: a kubeconfig for the administrator, people with
certificates, a server that can be killed and started again on the same port and the same data.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from clusterup import (
    binaries,
    controlplane,
    kubeconfigs,
    people,
    pki,
    ports,
    processes,
    settings,
    waiting,
)

ADMIN = "kubernetes-admin"
_START_LIMIT_S = 300.0
"""To end a hang: a busy machine takes half a minute for what takes a second."""


class EmbeddedServer(people.People):
    def __init__(
        self,
        *,
        keep_s: float | None = None,
        event_ttl_s: float | None = None,
        has_audit_log: bool = False,
    ) -> None:
        """`keep_s` is for how long it remembers the past, `event_ttl_s` for how long Events."""
        self._keep_s = keep_s
        self._has_audit_log = has_audit_log
        self._event_ttl_s = event_ttl_s
        self._port: ports.Port | None = None

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

    async def start(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kubevirt-embedded-"))
        self._port = ports.take()
        self.url = f"https://127.0.0.1:{self._port.number}"
        self._trust = pki.Pki.create(self.folder / "pki", server_names=["127.0.0.1"])
        admin = self._trust.authority().client(ADMIN, [pki.ADMIN_GROUP])
        kubeconfigs.with_certificate(
            self.kubeconfig,
            server=self.url,
            authority=self._trust.ca_file.read_bytes(),
            client=admin,
        )
        argv = [sys.executable, "-W", "error", "-m", "kubevirt.apiserver"]
        argv += ["--data", str(self.folder / "store.db"), "--port", str(self._port.number)]
        argv += ["--tls-cert", self._trust.file("apiserver.crt")]
        argv += ["--tls-key", self._trust.file("apiserver.key")]
        argv += ["--service-cidr", controlplane.SERVICE_CIDR]
        argv += ["--kubelet-ca", str(self._trust.ca_file)]
        argv += ["--kubelet-client-cert", self._trust.file("apiserver-kubelet-client.crt")]
        argv += ["--kubelet-client-key", self._trust.file("apiserver-kubelet-client.key")]
        argv += ["--client-ca", str(self._trust.ca_file), "--root-ca", str(self._trust.ca_file)]
        argv += [] if self._keep_s is None else ["--keep-s", str(self._keep_s)]
        if self._has_audit_log:
            argv += ["--audit-log", str(self.folder / "audit.log")]
        argv += [] if self._event_ttl_s is None else ["--event-ttl-s", str(self._event_ttl_s)]
        self.log = self.folder / "apiserver.log"
        self._daemon = processes.Daemon("apiserver", argv, self.log)
        try:
            await self.start_apiserver()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        await self._daemon.stop()
        if self._port:
            self._port.release()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pid(self) -> int:
        assert self._daemon.pid is not None  # noqa: S101  # it is started before anybody has it
        return self._daemon.pid

    async def kill_apiserver(self) -> None:
        await self._daemon.kill()

    async def start_apiserver(self) -> None:
        self._daemon.start()

        async def ready() -> bool:
            self._daemon.check()
            return await self._admin.is_ready()

        await waiting.until(ready, limit_s=_START_LIMIT_S, what="the embedded server is ready")

    @property
    def kubectl(self) -> Path:
        programs = binaries.Binaries(
            settings.PROVIDERS / settings.KUBERNETES, settings.cache_folder(os.environ)
        )
        return programs.path("kubectl")

    def _known(self) -> people.Known:
        return people.Known(
            url=self.url,
            folder=self.folder,
            kubeconfig=self.folder / "kubeconfig",
            trust=self._trust,
        )
