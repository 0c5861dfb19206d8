"""Storage as a controller: claims and volumes on one side, folders and files on the other.

storage = StorageController(client, home.volumes, loops, clock)
async with background(storage.run()): …
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from kubevirt.api.core.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubevirt.api.scheme import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.base.log import get_logger
from kubevirt.embedded.objects import claims
from kubevirt.embedded.storage import copying, decide, objects, sources, steps, users
from kubevirt.embedded.storage.carrying import Carrying
from kubevirt.embedded.storage.classes import classes
from kubevirt.embedded.storage.clones import Clones
from kubevirt.embedded.storage.loop import LoopDevices
from kubevirt.embedded.storage.provisioner import Provisioner
from kubevirt.embedded.storage.users import USERS, User
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, Controller, ControllerSettings, Result
from kubevirt.kube.errors import AlreadyExists
from kubevirt.kube.events import EventRecorder
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.triggers import own

log = get_logger(__name__)

COMPONENT: Final = "persistentvolume-controller"
_OF_CLAIM: Final = "claim"
_OF_SOURCE: Final = "source"
_COPIES: Final = ControllerSettings(workers=2, time_limit_s=copying.TIMEOUT_S)
"""The disk is one."""
_AGAIN_S: Final = 1.0


class StorageController:
    def __init__(self, client: Client, volumes: Path, loops: LoopDevices, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._provisioner = Provisioner(volumes)
        self._recorder = EventRecorder(client, component=COMPONENT, clock=clock)
        self._clones = Clones(client, self._provisioner)
        self._claims = Informer(
            client, PERSISTENT_VOLUME_CLAIMS, clock=clock, indexes={_OF_SOURCE: _copied_from}
        )
        self._volumes = Informer(client, PERSISTENT_VOLUMES, clock=clock)
        self._classes = Informer(client, STORAGE_CLASSES, clock=clock)
        self._pods = Informer(client, USERS, clock=clock, indexes={_OF_CLAIM: _claims_used})
        caches = (self._claims, self._volumes, self._classes, self._pods)
        self._for_claims: Controller[Key] = Controller(
            "claims", self._claim, clock=clock, wait_for=caches
        )
        self._for_volumes: Controller[Key] = Controller(
            "volumes of storage", self._volume, clock=clock, wait_for=caches
        )
        self._for_copies: Controller[Key] = Controller(
            "copies of volumes", self._copy, clock=clock, settings=_COPIES, wait_for=caches
        )
        self._carrying = Carrying(
            client, self._provisioner, loops, self._recorder, clock, self._clones
        )
        self._watch()

    async def run(self) -> None:
        """Until cancelled."""
        await self._make_classes()
        async with asyncio.TaskGroup() as tasks:
            for cache in (self._claims, self._volumes, self._classes, self._pods):
                tasks.create_task(cache.run())
            tasks.create_task(self._recorder.run())
            await self._clear_away()
            tasks.create_task(self._for_claims.run())
            tasks.create_task(self._for_volumes.run())
            tasks.create_task(self._for_copies.run())

    def _watch(self) -> None:
        self._for_claims.watch(self._claims, self._claim_and_its_copies)
        self._for_claims.watch(self._volumes, self._claims_of_volume)
        self._for_claims.watch(self._classes, lambda _: self._unbound())
        self._for_claims.watch(self._pods, self._claims_of_pod, when_changed=_what_counts)
        self._for_volumes.watch(self._volumes, own)
        self._for_volumes.watch(self._claims, self._volumes_of_claim)
        self._claims.add_handler(self._forget)
        self._volumes.add_handler(self._forget)

    def _forget(self, change: Change[Any]) -> None:
        if change.old is not None and change.new is None:
            self._carrying.forget(change.old.metadata.uid)

    async def _make_classes(self) -> None:
        for each in classes():
            await self._make_class(each)

    async def _make_class(self, wanted: StorageClass) -> None:
        while True:
            try:
                with suppress(AlreadyExists):
                    await self._client.create(STORAGE_CLASSES, wanted)
            except Retry as error:
                log.info("storage class not made yet", name=wanted.metadata.name, error=error)
                await self._clock.sleep(max(_AGAIN_S, error.after_s))
            else:
                return

    async def _clear_away(self) -> None:
        """Before anything is made: a folder that is about to be a volume's must not be taken for none's."""
        await self._volumes.wait_synced()
        try:
            await self._provisioner.clear_away({each.metadata.name for each in self._volumes})
        except OSError as error:
            log.warning("volumes not cleared away", error=error)

    # Who shall be looked at

    def _claim_and_its_copies(self, change: Change[PersistentVolumeClaim]) -> Iterable[Key]:
        return self._with_copies((change.key,))

    def _with_copies(self, keys: Iterable[Key]) -> Iterable[Key]:
        """And the claims that wait to become copies of theirs."""
        for key in keys:
            yield key
            yield from map(Key.of, self._claims.by_index(_OF_SOURCE, str(key)))

    def _claims_of_pod(self, change: Change[User]) -> Iterable[Key]:
        pods = (pod for pod in (change.old, change.new) if pod is not None)
        return self._with_copies({key for pod in pods for key in users.claims(pod)})

    def _claims_of_volume(self, change: Change[PersistentVolume]) -> Iterable[Key]:
        """The one that has it, the one that it is for, and all that wait if it is nobody's."""
        found: dict[Key, None] = {}
        for volume in (change.old, change.new):
            if volume is not None and (owner := volume.spec.claim_ref) is not None:
                found[Key(owner.namespace or "", owner.name or "")] = None
        name = change.key.name
        for claim in self._claims:
            if claim.spec.volume_name == name:
                found[Key.of(claim)] = None
        if change.new is not None and change.new.spec.claim_ref is None:
            found |= dict.fromkeys(self._unbound())
        return self._with_copies(found)

    def _unbound(self) -> list[Key]:
        return [Key.of(each) for each in self._claims if not each.spec.volume_name]

    def _volumes_of_claim(self, change: Change[PersistentVolumeClaim]) -> Iterable[Key]:
        names = {
            claim.spec.volume_name
            for claim in (change.old, change.new)
            if claim is not None and claim.spec.volume_name
        }
        gone = {change.old.metadata.uid} if change.old and not change.new else set()
        names |= {
            each.metadata.name
            for each in self._volumes
            if each.spec.claim_ref and each.spec.claim_ref.uid in gone
        }
        return [Key("", name) for name in names]

    # One at a time

    async def _claim(self, key: Key) -> Result:
        claim = self._claims.get(key)
        if claim is None:
            return DONE
        made_by = self._classes.get(Key("", claims.class_of(claim)))
        for step in decide.for_claim(claim, self._seen(key)):
            if isinstance(step, steps.Copy):
                self._for_copies.queue.add(key)
            else:
                await self._carrying.for_claim(claim, step, made_by)
        return DONE

    async def _copy(self, key: Key) -> Result:
        """What a claim is given is decided anew: it may have waited for its turn."""
        claim = self._claims.get(key)
        made_by = self._classes.get(Key("", claims.class_of(claim))) if claim else None
        if claim is None or made_by is None:
            return DONE
        for step in decide.for_claim(claim, self._seen(key)):
            if isinstance(step, steps.Copy):
                try:
                    await self._carrying.copy(claim, step.source, made_by)
                finally:
                    self._for_claims.queue.add(Key.of(step.source))
                self._for_claims.queue.add(key)
        return DONE

    async def _volume(self, key: Key) -> Result:
        volume = self._volumes.get(key)
        if volume is None:
            return DONE
        owner = volume.spec.claim_ref
        of = Key(owner.namespace or "", owner.name or "") if owner else None
        for step in decide.for_volume(volume, self._seen(of)):
            await self._carrying.for_volume(volume, step)
        return DONE

    def _seen(self, key: Key | None) -> decide.Seen:
        """All volumes and classes, and what concerns one claim and the one that it is a copy of."""
        claim = self._claims.get(key) if key else None
        source = sources.claim_copied(claim) if claim else None
        found = {each: self._claims.get(each) for each in (key, source) if each}
        pods = {each: self._pods.by_index(_OF_CLAIM, str(each)) for each in found}
        waiting = [each.metadata.name for each in (pods[key] if key else ()) if users.waits(each)]
        is_made = claim and source and self._provisioner.has(objects.volume_name(claim))
        return decide.Seen(
            claims={each: one for each, one in found.items() if one is not None},
            volumes={each.metadata.name: each for each in self._volumes},
            classes={each.metadata.name: each for each in self._classes},
            waiting_pods={key: waiting[0]} if key and waiting else {},
            used=[each for each in found if any(map(users.holds, pods[each]))],
            copied=self._clones.copied,
            made=(key,) if key and is_made else (),
        )


def _copied_from(claim: PersistentVolumeClaim) -> tuple[str, ...]:
    """Once it has a volume, it is nobody's copy any more."""
    source = sources.claim_copied(claim)
    return (str(source),) if source and not claim.spec.volume_name else ()


def _claims_used(pod: User) -> tuple[str, ...]:
    return tuple(str(each) for each in users.claims(pod))


def _what_counts(pod: User) -> object:
    return pod.spec, pod.status, pod.metadata.deletion_timestamp
