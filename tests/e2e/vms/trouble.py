"""Troubles of machines, each with what a user sees of it and how it is mended.

    trouble = Trouble(a_vm(…), "ErrorPvcNotFound", "FailedPvcNotFound", ("PVC", "create it"), mend)
    await trouble.is_told(place)
    await trouble.is_mended(place)

Guests are started paused: that they would run is enough, and saves their boot.
"""

import asyncio
import hashlib
import shutil
import subprocess
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.component.host.images import Image, layer
from tests.e2e.vms.objects import Object, a_vm
from tests.e2e.vms.place import Place

from kubevirt.testing.home import TrialHome

TELLERS = {"VirtualMachine", "VirtualMachineInstance"}
MIB = 1 << 20
Mend = Callable[[Place], Awaitable[object]]


def waiting(
    name: str,
    *,
    image: str = "",
    volumes: Sequence[Mapping[str, Any]] = (),
    **guest: Any,
) -> Object:
    """A machine that starts as soon as it can, and then stands still."""
    vm = a_vm(
        name, runStrategy="Always", volumes=volumes, guest={"startStrategy": "Paused", **guest}
    )
    if image:
        vm["spec"]["template"]["spec"]["volumes"][0]["containerDisk"]["image"] = image
    return vm


@dataclass(frozen=True)
class Trouble:
    vm: Object
    statuses: str
    """What `kubectl get vm` shows: one of these words."""
    reason: str
    """Of the condition, and of the events."""
    words: Sequence[str]
    """In the condition's message, in their order."""
    mend: Mend
    begins_anew: bool = False
    """By another instance, because the machine itself was changed."""
    uid: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.vm["metadata"]["name"])

    async def is_told(self, place: Place) -> None:
        await place.create(self.vm)
        await self.is_seen(place)

    async def is_seen(self, place: Place) -> None:
        """Of a machine that is there already."""
        vm = await place.until(self.name, self._is_told, f"{self.statuses}: {self.reason}")
        message = self._condition(vm)["message"]
        at = [message.find(each) for each in self.words]
        assert -1 not in at, (self.name, self.words, message)
        assert at == sorted(at), (self.name, self.words, message)
        await self._is_told_in_events(place)
        self.uid.append((await place.vmi(self.name))["metadata"]["uid"])

    async def is_mended(self, place: Place) -> None:
        await self.mend(place)
        vm = await place.until_status(self.name, "Paused")
        assert "startFailure" not in vm["status"]
        vmi = await place.vmi(self.name)
        assert vmi["status"]["phase"] == "Running"
        assert (vmi["metadata"]["uid"] not in self.uid) == self.begins_anew, self.name
        told = {each["type"] for each in vm["status"]["conditions"]}
        assert not told & {"Synchronized", "PodScheduled", "RestartRequired"}, (self.name, told)

    def _is_told(self, vm: Object) -> bool:
        status = vm.get("status", {})
        return status.get("printableStatus") in self.statuses.split() and bool(self._condition(vm))

    def _condition(self, vm: Object) -> Object:
        found = (each for each in vm["status"].get("conditions", ()) if each["status"] == "False")
        return next((each for each in found if each.get("reason") == self.reason), {})

    async def _is_told_in_events(self, place: Place) -> None:
        """Of the machine and of its instance: a user looks at either."""
        reason = {"Unschedulable": "FailedScheduling"}.get(self.reason, self.reason)
        event = await place.until_event(self.name, reason)
        assert event["type"] == "Warning"
        kinds = set[str]()
        while not kinds >= TELLERS:
            found = [each for each in await place.events(self.name) if each["reason"] == reason]
            kinds = {each["involvedObject"]["kind"] for each in found}
            await asyncio.sleep(0.1)


async def all_told_and_mended(place: Place, *troubles: Trouble) -> None:
    """Side by side: most of the time is spent waiting."""
    async with asyncio.TaskGroup() as tasks:
        for each in troubles:
            tasks.create_task(each.is_told(place), name=each.name)
    async with asyncio.TaskGroup() as tasks:
        for each in troubles:
            tasks.create_task(each.is_mended(place), name=each.name)


# Ways to mend.


def creating(*objects: Object) -> Mend:
    async def mend(place: Place) -> None:
        await place.create(*objects)

    return mend


def changing(name: str, **guest: Any) -> Mend:
    """Fields of the template's spec."""

    async def mend(place: Place) -> None:
        await place.change(name, {"spec": {"template": {"spec": guest}}})

    return mend


def another_image(name: str, image: str) -> Mend:
    return changing(name, volumes=[{"name": "root", "containerDisk": {"image": image}}])


# Images on the shelf of a home.


class Shelf:
    """Below a name of its own; all of it is cleared away."""

    def __init__(self, home: TrialHome, namespace: str) -> None:
        self.prefix = f"127.0.0.1:1/{namespace}"
        self._folder = home.path / "images" / "archives" / self.prefix

    def put(self, name: str, content: Mapping[str, bytes], *, damaged: bool = False) -> str:
        """An image with these files; its digest. A damaged one is not what its digests say."""
        image = Image([layer(*content.items())])
        files = {**image.files(), "index.json": image.index("")}
        if damaged:
            (start,) = (each[:32] for each in content.values())
            files = {key: data.replace(start, start[::-1]) for key, data in files.items()}
        path = self._folder / f"{name}.tar"
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".draft")
        draft.write_bytes(layer(*files.items()))
        draft.replace(path)
        return image.digest

    def putting(self, name: str, content: Mapping[str, bytes]) -> Mend:
        async def mend(_: Place) -> None:
            await asyncio.to_thread(self.put, name, content)

        return mend

    def clear(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def a_shelf(place: Place) -> Iterator[Shelf]:
    shelf = Shelf(place.home, place.namespace)
    try:
        yield shelf
    finally:
        shelf.clear()


def a_disk_file(seed: str) -> dict[str, bytes]:
    """A small raw disk, another for each seed."""
    return {"disk/disk.img": hashlib.sha256(seed.encode()).digest().ljust(MIB, b"\0")}


# File systems that are small.


@contextmanager
def small(folder: Path, size: int) -> Iterator[Callable[[int], None]]:
    """A file system of that size at the folder, everybody's, since launchers are not root; called with another, it has that."""
    _mount("-t", "tmpfs", "-o", f"size={size},mode=777", "none", str(folder))
    try:
        yield lambda larger: _mount("-o", f"remount,size={larger}", str(folder))
    finally:
        _run("umount", "--lazy", str(folder))


def _mount(*words: str) -> None:
    _run("mount", *words)


def _run(*words: str) -> None:
    subprocess.run(words, check=True, timeout=60)
