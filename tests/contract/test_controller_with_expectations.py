"""A controller that makes nameless children, on a real server with a watch that lags as it does.

Without expectations it makes too many: the cache does not show the child that was just created.
"""

import asyncio
from collections import Counter

from clusterup import waiting
from kubevirt.api.core.namespace import ConfigMap
from kubevirt.api.meta import ObjectMeta, OwnerReference
from kubevirt.api.scheme import CONFIG_MAPS
from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background
from kubevirt.kube.cache.store import controller_uid
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, After, Controller, Result
from kubevirt.kube.expectations import Expectations
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.triggers import own, owner_in

OWNERS = 20


class OneChildEach:
    """Each owner has exactly one child. Whoever is impatient adds owners again and again."""

    def __init__(self, client: Client, namespace: str, clock: Clock) -> None:
        self.owners = self._informer(client, namespace, clock, "role=owner")
        self.children = self._informer(client, namespace, clock, "role=child")
        self.created = 0
        self.controller = Controller("one-child-each", self.reconcile, clock=clock)
        self._client = client
        self._expectations: Expectations[Key] = Expectations(clock)
        self.controller.watch(self.owners, own)
        self.controller.watch(self.children, self._expectations.followed_by(owner_in(self.owners)))

    @staticmethod
    def _informer(client: Client, namespace: str, clock: Clock, role: str) -> Informer[ConfigMap]:
        return Informer(client, CONFIG_MAPS, clock=clock, namespace=namespace, label_selector=role)

    async def reconcile(self, key: Key) -> Result:
        owner = self.owners.get(key)
        if owner is None:
            self._expectations.forget(key)
            return DONE
        if (wait_s := self._expectations.remaining_s(key)) > 0:
            return After(wait_s)
        children = self.children.owned_by(owner.metadata.uid)
        if not children:
            await self._create_child(key, owner)
        for child in children[1:]:
            await self._delete_child(key, child)
        return DONE

    async def _create_child(self, key: Key, owner: ConfigMap) -> None:
        reference = OwnerReference(
            api_version="v1",
            kind="ConfigMap",
            name=key.name,
            uid=owner.metadata.uid,
            controller=True,
        )
        child = ConfigMap(
            metadata=ObjectMeta(
                generate_name=f"{key.name}-",
                labels={"role": "child"},
                owner_references=(reference,),
            )
        )
        self.created += 1
        with self._expectations.creation(key) as creation:
            made = await self._client.create(CONFIG_MAPS, child, key.namespace)
            creation.uid = made.metadata.uid

    async def _delete_child(self, key: Key, child: ConfigMap) -> None:
        with self._expectations.deletion(key, child.metadata.uid):
            await self._client.delete(
                CONFIG_MAPS, child.metadata.name, key.namespace, uid=child.metadata.uid
            )

    async def nag(self) -> None:
        """Reconciles far more often than changes arrive."""
        while True:
            for owner in self.owners:
                self.controller.queue.add(Key.of(owner))
            await asyncio.sleep(0)


async def test_a_controller_that_expects_what_it_does_never_makes_one_too_many(
    client: Client, namespace: str, clock: Clock
) -> None:
    house = OneChildEach(client, namespace, clock)
    labels = {"role": "owner"}
    for n in range(OWNERS):
        owner = ConfigMap(metadata=ObjectMeta(name=f"owner-{n}", labels=labels))
        await client.create(CONFIG_MAPS, owner, namespace)

    async def each_has_one() -> bool:
        found = await client.list(CONFIG_MAPS, namespace, label_selector="role=child")
        return Counter(map(controller_uid, found.items)) == Counter(
            owner.metadata.uid for owner in house.owners
        )

    async with background(
        house.owners.run(), house.children.run(), house.controller.run(), house.nag()
    ):
        await house.children.wait_synced()
        await waiting.until(each_has_one, limit_s=120, what="one child each")
        assert house.created == OWNERS

        gone = next(iter(house.children))
        await client.delete(CONFIG_MAPS, gone.metadata.name, namespace)
        await waiting.until(each_has_one, limit_s=120, what="a child for the one that went")
        assert house.created == OWNERS + 1
    assert house.controller.outcomes["bug"] == 0
