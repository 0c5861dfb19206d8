"""Servers to which everything may be done: killed, paused, their stores restarted and set back.

To start one costs more than most of what is done to it, so a worker has one for all of its tests (`Lasting`), and
each finds it well again.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from clusterup.errors import Broken
from clusterup.light import LightCluster
from clusterup.light_embedded import EmbeddedServer


class MortalCluster(LightCluster):
    """Kubernetes' own: the API server and its store are two programs."""

    was_set_back = False

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
        self.was_set_back = True
        shutil.rmtree(self._data)
        shutil.copytree(backup, self._data)

    @property
    def _data(self) -> Path:
        return self.folder / "etcd"


class MortalEmbedded(EmbeddedServer):
    """Ours: the store is part of the API server, and goes and comes with it."""

    was_set_back = False

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
        self.was_set_back = True
        for file in self.folder.glob("store.db*"):
            file.unlink()
        for file in backup.iterdir():
            shutil.copy(file, self.folder)


class Lasting:
    """A server for one test after the other, and a new one where the last test's could not be mended."""

    def __init__(self, make: Callable[[], MortalCluster | MortalEmbedded]) -> None:
        self._make = make
        self._running: MortalCluster | MortalEmbedded | None = None

    async def well(self) -> MortalCluster | MortalEmbedded:
        """Everything of it runs; what others have written is still there."""
        if self._running is not None and not await self._is_mended(self._running):
            await self.stop()
        if self._running is None:
            made = self._make()
            await made.start()
            self._running = made
        return self._running

    async def stop(self) -> None:
        if self._running is not None:
            await self._running.stop()
        self._running = None

    @staticmethod
    async def _is_mended(server: MortalCluster | MortalEmbedded) -> bool:
        # Whoever has seen a future that is gone may not get over it, such as Kubernetes' controllers.
        if server.was_set_back:
            return False
        try:
            await server.start_all()
        except Broken:
            return False
        return True
