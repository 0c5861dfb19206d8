"""An informer on a real server: what it sees, and that nothing done to the server makes it miss anything."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.contract.conftest import CRDS, Mortal, config_of
from tests.contract.lamps import CONFIG_MAPS, LAMP_CRD, TYPED_CONFIG_MAPS, ConfigMap, a_config_map

from clusterup.light import LightCluster
from kubevirt.api.resource import Resource
from kubevirt.base.clock import SystemClock
from kubevirt.base.errors import Retry, Unreachable
from kubevirt.base.tasks import background
from kubevirt.kube.backoff import BackoffSettings
from kubevirt.kube.cache.reflector import ReflectorSettings, StaleAnswer
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NoSuchResource, NotFound
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.patches import MergePatch

pytestmark = pytest.mark.timeout(600)  # most of it is a server's start on a busy machine

OURS = "ours=yes"
QUICK = ReflectorSettings(backoff=BackoffSettings(base_s=0.1, cap_s=1.0, jitter=1.0))


def informer_of(
    client: Client,
    resource: Resource[Any] = TYPED_CONFIG_MAPS,
    settings: ReflectorSettings = QUICK,
    **options: Any,
) -> Informer[Any]:
    options = {"label_selector": OURS, **options}
    return Informer(client, resource, clock=SystemClock(), settings=settings, **options)


def running(informer: Informer[Any]) -> AbstractAsyncContextManager[None]:
    return background(informer.run())


async def until(
    condition: Callable[[], object], limit_s: float = 120, state: Callable[[], object] = str
) -> None:
    """`state` is told of one that was waited for in vain."""
    try:
        async with asyncio.timeout(limit_s):
            while not condition():  # noqa: ASYNC110  # looks at it from outside, as a user would
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"not within {limit_s:g} s: {state()}") from None


def ours(name: str, colour: str = "white", **labels: str) -> dict[str, Any]:
    return a_config_map(name, {"ours": "yes", **labels}, colour=colour)


def paint(colour: str) -> MergePatch:
    return MergePatch({"data": {"colour": colour}})


class Journal:
    """A handler that knows what no change may ever look like, and keeps its own copy of the cache."""

    def __init__(self) -> None:
        self.copy: dict[Key, ConfigMap] = {}
        self.seen: set[tuple[str, str]] = set()
        self.complaints: list[str] = []
        self._versions: dict[str, int] = {}
        self._gone: set[str] = set()

    def __call__(self, change: Change[ConfigMap]) -> None:
        metadata = change.object.metadata
        if self.copy.get(change.key) is not change.old:
            self.complaints.append(f"{change.key} was not like that")
        if metadata.uid in self._gone:
            self.complaints.append(f"{change.key} came back from the dead")
        if change.new is None:
            del self.copy[change.key]
            self._gone.add(metadata.uid)
            return
        version = int(metadata.resource_version or 0)
        if version <= self._versions.get(metadata.uid, 0):
            self.complaints.append(f"{change.key} went back in time")
        self._versions[metadata.uid] = version
        self.copy[change.key] = change.new
        self.seen.add((metadata.uid, str(version)))


class Gaps:
    """Between which versions an informer could hear nothing: from the last that it told of to its next list."""

    def __init__(self, informer: Informer[ConfigMap]) -> None:
        self._informer = informer
        self._found: list[tuple[int, int]] = []
        self._lists = 0
        self._heard = 0
        informer.add_handler(self)

    def __call__(self, change: Change[ConfigMap]) -> None:
        if self.look() and change.new is not None:
            self._heard = int(change.new.metadata.resource_version or 0)

    def look(self) -> bool:
        """Whether the informer follows the server now; before it tells of a change, it says where it stands."""
        if self._informer.resource_version is None:
            return False
        position, lists = int(self._informer.resource_version), self._informer.counts["lists"]
        if lists != self._lists:
            self._found.append((self._heard, position))
        self._lists, self._heard = lists, position
        return True

    def hide(self, version: str) -> bool:
        return any(heard < int(version) <= listed for heard, listed in self._found)


async def test_an_informer_sees_what_there_is_and_what_changes(
    client: Client, namespace: str
) -> None:
    await client.create(CONFIG_MAPS, ours("first"), namespace)
    informer = informer_of(client, namespace=namespace)
    journal = Journal()
    informer.add_handler(journal)
    async with running(informer):
        await informer.wait_synced()
        assert [each.metadata.name for each in informer] == ["first"]
        await client.create(CONFIG_MAPS, ours("second"), namespace)
        await client.patch(CONFIG_MAPS, "first", paint("red"), namespace)
        await client.delete(CONFIG_MAPS, "second", namespace)
        last = await client.patch(CONFIG_MAPS, "first", paint("blue"), namespace)
        await until(lambda: informer.resource_version == last["metadata"]["resourceVersion"])
        first = informer.get(Key(namespace, "first"))
    assert first is not None
    assert first.data == {"colour": "blue"}
    assert len(journal.seen) == 4
    assert not journal.complaints
    # The list was streamed, and the stream is the watch.
    assert informer.counts["lists"] == informer.counts["watches"] == 1
    assert informer.counts["failures"] == 0


async def test_a_server_that_streams_no_lists_is_read_in_pages(
    start_light_cluster: Callable[..., Awaitable[LightCluster]],
) -> None:
    cluster = await start_light_cluster(api_flags={"feature-gates": "WatchList=false"})
    async with Client(config_of(cluster.kubeconfig)) as client:
        for number in range(5):
            await client.create(CONFIG_MAPS, ours(f"cm-{number}"), "default")
        settings = ReflectorSettings(page_size=2)
        informer = informer_of(client, settings=settings, namespace="default")
        async with running(informer):
            await informer.wait_synced()
            assert len(informer) == 5
            await client.delete(CONFIG_MAPS, "cm-3", "default")
            await until(lambda: len(informer) == 4)
    assert informer.counts["failures"] == 0


async def test_selectors_and_metadata_alone_narrow_what_is_kept(
    client: Client, namespace: str
) -> None:
    await client.create(CONFIG_MAPS, ours("desk", room="study"), namespace)
    await client.create(CONFIG_MAPS, ours("hall", room="hall"), namespace)
    by_label = informer_of(
        client, CONFIG_MAPS.metadata_only, namespace=namespace, label_selector="room=study"
    )
    by_field = informer_of(client, namespace=namespace, field_selector="metadata.name=hall")
    async with running(by_label), running(by_field):
        await by_label.wait_synced()
        await by_field.wait_synced()
        [desk] = by_label
        [hall] = by_field
        assert desk.kind == "PartialObjectMetadata"
        assert desk.metadata.labels["room"] == "study"
        assert hall.metadata.name == "hall"
        move = MergePatch({"metadata": {"labels": {"room": "hall"}}})
        await client.patch(CONFIG_MAPS, "desk", move, namespace)
        await until(lambda: len(by_label) == 0)


async def test_a_kind_that_is_installed_later_is_waited_for(client: Client) -> None:
    crd = {
        "metadata": {"name": "lamps.later.example"},
        "spec": {**LAMP_CRD["spec"], "group": "later.example"},
    }
    lamps = Resource("later.example", "v1", "lamps", "Lamp", True, ConfigMap)
    informer = informer_of(client, lamps, label_selector="")
    async with running(informer):
        await until(lambda: isinstance(informer.last_error, NoSuchResource))
        await client.create(CRDS, crd)
        try:
            await informer.wait_synced()
            assert informer.last_error is None
        finally:
            await client.delete(CRDS, "lamps.later.example")


@pytest.fixture
async def own_client(mortal: Mortal) -> AsyncIterator[Client]:
    """For a server that will be broken."""
    async with Client(config_of(mortal.kubeconfig)) as client:
        yield client


class Painter:
    """Somebody who creates, changes and deletes without end, and remembers what was acknowledged."""

    def __init__(self, client: Client) -> None:
        self.acknowledged: list[tuple[str, str]] = []
        self._client = client
        self._random = random.Random(7)

    async def run(self) -> None:
        while True:
            with suppress(Retry, NotFound):
                await self._change(f"cm-{self._random.randrange(20)}")
            await asyncio.sleep(0.01)

    async def paint_more(self) -> None:
        goal = len(self.acknowledged) + 20
        await until(lambda: len(self.acknowledged) >= goal, state=lambda: (goal, self.acknowledged))

    async def _change(self, name: str) -> None:
        colour = str(self._random.random())
        if self._random.random() < 0.2:
            await self._client.delete(CONFIG_MAPS, name, "default")
            return
        try:
            done = await self._client.patch(CONFIG_MAPS, name, paint(colour), "default")
        except NotFound:
            done = await self._client.create(CONFIG_MAPS, ours(name, colour), "default")
        self.acknowledged.append((done["metadata"]["uid"], done["metadata"]["resourceVersion"]))


@pytest.mark.parametrize("fault", ["kill the API server", "restart the store"])
async def test_no_change_is_missed_while_the_server_is_broken(
    mortal: Mortal, own_client: Client, fault: str
) -> None:
    informer = informer_of(own_client, namespace="default")
    gaps, journal = Gaps(informer), Journal()
    informer.add_handler(journal)
    painter = Painter(own_client)
    async with running(informer):
        await informer.wait_synced()
        async with background(painter.run()):
            for _ in range(2):
                await painter.paint_more()
                if fault == "kill the API server":
                    await mortal.kill_apiserver()
                    await asyncio.sleep(0.5)
                    await mortal.start_apiserver()
                else:
                    await mortal.restart_store()
            await painter.paint_more()
        final = await own_client.list(TYPED_CONFIG_MAPS, "default", label_selector=OURS)
        versions = {Key.of(each): each.metadata.resource_version for each in final.items}
        await until(
            lambda: versions_in(informer) == versions and informer.last_error is None,
            state=lambda: (
                versions_in(informer).items() ^ versions.items(),
                informer.counts,
                informer.last_error,
            ),
        )

    assert not journal.complaints
    assert {key: each.metadata.resource_version for key, each in journal.copy.items()} == versions
    gaps.look()
    missed = set(painter.acknowledged) - journal.seen
    # A server that restarts forgets what it had not told: then only the outcome can be seen, and the
    # changes on the way there were never there for us. Whatever came before and after that was seen.
    assert not [version for _, version in missed if not gaps.hide(version)]


def versions_in(informer: Informer[ConfigMap]) -> dict[Key, str | None]:
    return {Key.of(each): each.metadata.resource_version for each in informer}


async def test_a_server_that_hangs_is_noticed_by_its_silence(
    mortal: Mortal, own_client: Client
) -> None:
    settings = ReflectorSettings(silence_limit_s=2, answer_limit_s=2, backoff=QUICK.backoff)
    informer = informer_of(own_client, settings=settings, namespace="default")
    pid = mortal.apiserver_pid
    async with running(informer):
        await informer.wait_synced()
        os.kill(pid, signal.SIGSTOP)
        try:
            await until(lambda: isinstance(informer.last_error, Unreachable))
        finally:
            os.kill(pid, signal.SIGCONT)
        await own_client.create(CONFIG_MAPS, ours("after"), "default")
        await until(lambda: len(informer) == 1)
    assert informer.counts["silences"] >= 1


async def test_a_server_restored_from_a_backup_is_followed_into_the_past(
    mortal: Mortal, own_client: Client, tmp_path: Path
) -> None:
    settings = ReflectorSettings(rewind_after_s=3, backoff=QUICK.backoff)
    informer = informer_of(own_client, settings=settings, namespace="default")
    backup = tmp_path / "backup"
    await own_client.create(CONFIG_MAPS, ours("kept"), "default")
    async with running(informer):
        await informer.wait_synced()
        await mortal.stop_all()
        mortal.save(backup)
        await mortal.start_all()
        for number in range(50):
            await own_client.create(CONFIG_MAPS, ours(f"lost-{number}"), "default")
        await until(lambda: len(informer) == 51)

        await mortal.stop_all()
        mortal.restore(backup)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(mortal.start_all())
            # For some seconds only: on a busy machine they may be over when we hear that it is there.
            await until(lambda: isinstance(informer.last_error, StaleAnswer), limit_s=240)
        await until(lambda: [each.metadata.name for each in informer] == ["kept"])
        await own_client.create(CONFIG_MAPS, ours("new"), "default")
        await until(lambda: len(informer) == 2)
