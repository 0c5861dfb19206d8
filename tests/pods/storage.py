"""Claims that can be bound: the embedded home provisions them, for Kubernetes a volume is made by hand."""

from pathlib import Path

from tests.pods.objects import Object
from tests.pods.place import Place

from clusterup import processes
from kubevirt.api import scheme

_SIZE = "16Mi"


class Storage:
    def __init__(self, place: Place, folder: Path) -> None:
        self._place = place
        self._folder = folder
        self._volumes: list[str] = []
        self._devices: list[str] = []

    async def claim(self, name: str, mode: str = "Filesystem") -> None:
        """A claim that a pod can use."""
        spec: Object = {
            "accessModes": ["ReadWriteOnce"],
            "volumeMode": mode,
            "resources": {"requests": {"storage": _SIZE}},
        }
        if not self._place.home.provisions:
            spec |= {"storageClassName": "", "volumeName": await self._volume(name, mode)}
        await self._place.create(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": name},
                "spec": spec,
            }
        )

    async def clean_up(self) -> None:
        try:
            for name in self._volumes:
                await self._place.client.delete(scheme.PERSISTENT_VOLUMES, name)
        finally:
            for device in self._devices:
                await processes.run("losetup", "--detach", device)

    async def _volume(self, claim: str, mode: str) -> str:
        name = f"{self._place.namespace}-{claim}"
        await self._place.create(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": name},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "capacity": {"storage": _SIZE},
                    "volumeMode": mode,
                    "persistentVolumeReclaimPolicy": "Retain",
                    **(
                        self._folder_source()
                        if mode == "Filesystem"
                        else await self._device_source()
                    ),
                },
            }
        )
        self._volumes.append(name)
        return name

    def _folder_source(self) -> Object:
        return {"hostPath": {"path": str(self._folder), "type": "DirectoryOrCreate"}}

    async def _device_source(self) -> Object:
        """A loop device of this machine, whose devices are the node's too."""
        self._folder.mkdir()
        file = self._folder / "disk"
        with file.open("wb") as disk:
            disk.truncate(16 << 20)
        made = await processes.run("losetup", "--find", "--show", file)
        device = made.stdout.strip()
        self._devices.append(device)
        node = {
            "key": "kubernetes.io/hostname",
            "operator": "In",
            "values": [self._place.home.node],
        }
        return {
            "local": {"path": device},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [node]}]}},
        }
