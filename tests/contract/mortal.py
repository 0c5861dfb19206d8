"""Servers to which everything may be done: killed, paused, their stores restarted and set back."""

import shutil
from pathlib import Path

from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer


class MortalCluster(LightCluster):
    """Kubernetes' own: the API server and its store are two programs."""

    @property
    def apiserver_pid(self) -> int:
        return self.pid("kube-apiserver")

    async def restart_store(self) -> None:
        """The API server stays and waits."""
        await self.restart_etcd()

    async def stop_all(self) -> None:
        await self.kill_apiserver()
        await self.stop_etcd()

    async def start_all(self) -> None:
        await self.start_etcd()
        await self.start_apiserver()

    def save(self, backup: Path) -> None:
        shutil.copytree(self._data, backup)

    def restore(self, backup: Path) -> None:
        shutil.rmtree(self._data)
        shutil.copytree(backup, self._data)

    @property
    def _data(self) -> Path:
        return self.folder / "etcd"


class MortalEmbedded(EmbeddedServer):
    """Ours: the store is part of the API server, and goes and comes with it."""

    @property
    def apiserver_pid(self) -> int:
        pid = self._daemon.pid
        assert pid is not None
        return pid

    async def restart_store(self) -> None:
        """In good order, as a new version would be installed."""
        await self._daemon.stop()
        await self.start_apiserver()

    async def stop_all(self) -> None:
        await self.kill_apiserver()

    async def start_all(self) -> None:
        await self.start_apiserver()

    def save(self, backup: Path) -> None:
        backup.mkdir()
        for file in self.folder.glob("store.db*"):
            shutil.copy(file, backup)

    def restore(self, backup: Path) -> None:
        for file in self.folder.glob("store.db*"):
            file.unlink()
        for file in backup.iterdir():
            shutil.copy(file, self.folder)
