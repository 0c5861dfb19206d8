"""A namespace with virt-controller, fake nodes and somebody who looks at machines."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from clusterup import waiting
from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.core.pod import Pod
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine
from kubevirt.api.resource import Resource
from kubevirt.api.scheme import EVENTS, PODS, VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES
from kubevirt.base.clock import SystemClock
from kubevirt.base.tasks import background
from kubevirt.components.controller.controlling import VirtController
from kubevirt.components.controller.settings import Settings
from kubevirt.kube.access.config import Config
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.key import Key
from kubevirt.kube.leader import ElectionSettings
from kubevirt.kube.patches import MergePatch
from kubevirt.testing.admitting_client import AdmittingClient
from kubevirt.testing.fake_nodes import FakeNodes

LIMIT_S = 100.0
AGENT = "virt-controller"
LAUNCHER = "kubevirt/virt-launcher:test"
QUICK = ElectionSettings(lease_duration_s=4, renew_deadline_s=3.0, retry_period_s=0.5)

WRITES = {"create", "update", "patch", "delete", "deletecollection"}


class House:
    def __init__(self, client: Client, config: Config, namespace: str, audit_log: Path) -> None:
        self.client = client
        self.config = config
        self.namespace = namespace
        self.configuration = KubeVirtConfiguration()
        self.clock = SystemClock()
        self.at_work: list[VirtController] = []
        """Those who lead and know everything there is."""
        self._audit_log = audit_log
        self._leaves_instances_behind = False

    @property
    def agent(self) -> str:
        """Who writes, as the server writes it down: one name for each house."""
        return f"{AGENT}-{self.namespace}"

    @asynccontextmanager
    async def controlled(self, **settings: Any) -> AsyncIterator[VirtController]:
        """virt-controller runs, from here on."""
        async with AdmittingClient(
            self.config, lambda: self.configuration, user_agent=self.agent
        ) as client:
            chosen: dict[str, Any] = {"election": QUICK, **settings}

            @contextmanager
            def works() -> Iterator[None]:
                self.at_work.append(controller)
                try:
                    yield
                finally:
                    self.at_work.remove(controller)

            controller = VirtController(
                client,
                self.clock,
                lambda: self.configuration,
                Settings(launcher_image=LAUNCHER, namespace=self.namespace, **chosen),
                at_work=works,
            )
            async with background(controller.run()):
                yield controller

    @asynccontextmanager
    async def with_nodes(self) -> AsyncIterator[FakeNodes]:
        async with Client(self.config, user_agent="fake-nodes") as client:
            prefix = self.namespace
            async with FakeNodes(client, self.clock, count=2, prefix=prefix) as nodes:
                yield nodes

    # What a user does

    async def create(self, vm: VirtualMachine) -> VirtualMachine:
        return await self.client.create(VIRTUAL_MACHINES, vm, self.namespace)

    async def edit(self, name: str, **spec: Any) -> None:
        await self.client.patch(VIRTUAL_MACHINES, name, MergePatch({"spec": spec}), self.namespace)

    async def ask(self, name: str, action: str, uid: str | None = None) -> None:
        """As virt-api does for `virtctl start` and `stop`."""
        request = {"action": action, **({"uid": uid} if uid else {})}
        patch = MergePatch({"status": {"stateChangeRequests": [request]}})
        await self.client.patch_status(VIRTUAL_MACHINES, name, patch, self.namespace)

    async def delete(self, resource: Resource[Any], name: str, **options: Any) -> None:
        await self.client.delete(resource, name, self.namespace, **options)

    async def leave_behind(self, name: str) -> None:
        """The machine goes, its guest stays."""
        assert self._leaves_instances_behind, "the garbage collector may not know instances yet"
        await self.delete(VIRTUAL_MACHINES, name, propagation="Orphan")
        await self.until_gone(VIRTUAL_MACHINES, name)

    def key(self, name: str) -> Key:
        return Key(self.namespace, name)

    # What there is

    async def machine(self, name: str) -> VirtualMachine | None:
        vm: VirtualMachine | None = await self._found(VIRTUAL_MACHINES, name)
        return vm

    async def instance(self, name: str) -> VirtualMachineInstance | None:
        vmi: VirtualMachineInstance | None = await self._found(VIRTUAL_MACHINE_INSTANCES, name)
        return vmi

    async def pods(self) -> list[Pod]:
        return (await self.client.list(PODS, self.namespace)).items

    async def _found(self, resource: Resource[Any], name: str) -> Any:
        try:
            return await self.client.get(resource, name, self.namespace)
        except NotFound:
            return None

    async def until_machine(
        self, name: str, holds: Callable[[VirtualMachine], bool], what: str
    ) -> VirtualMachine:
        found: list[VirtualMachine] = []

        async def is_so() -> bool:
            vm = await self.machine(name)
            found[:] = [vm] if vm else []
            return vm is not None and holds(vm)

        try:
            await waiting.until(is_so, limit_s=LIMIT_S, what=f"{name} {what}")
        except Exception as error:
            error.add_note(f"it is {found}; its instance {await self.instance(name)}")
            raise
        return found[0]

    async def until_word(self, name: str, word: str) -> VirtualMachine:
        return await self.until_machine(
            name, lambda vm: vm.status.printable_status == word, f"is {word}"
        )

    async def until_instance(
        self, name: str, holds: Callable[[VirtualMachineInstance], bool], what: str
    ) -> VirtualMachineInstance:
        found: list[VirtualMachineInstance] = []

        async def is_so() -> bool:
            vmi = await self.instance(name)
            found[:] = [vmi] if vmi else []
            return vmi is not None and holds(vmi)

        try:
            await waiting.until(is_so, limit_s=LIMIT_S, what=f"instance {name} {what}")
        except Exception as error:
            error.add_note(f"it is {found}")
            raise
        return found[0]

    async def until_phase(self, name: str, phase: str) -> VirtualMachineInstance:
        return await self.until_instance(name, lambda vmi: vmi.status.phase == phase, f"is {phase}")

    async def until_gone(self, resource: Resource[Any], name: str) -> None:
        async def is_gone() -> bool:
            return await self._found(resource, name) is None

        await waiting.until(is_gone, limit_s=LIMIT_S, what=f"{resource.kind} {name} is gone")

    async def leaves_instances_behind(self) -> None:
        """Returns when the garbage collector knows them: ask before virt-controller runs, who would look after the one that is
        made for it. Kubernetes' own looks for new kinds twice a minute; of those that it does not know it leaves none
        behind when their owner goes, and deletes them when it hears of them.
        """
        place = f"/api/v1/namespaces/{self.namespace}/configmaps"
        owner = msgspec.json.decode(
            await self.client.raw("POST", place, {"metadata": {"name": "owner"}})
        )
        owned = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner"}
        owned["uid"] = owner["metadata"]["uid"]
        metadata = {"name": "owned", "namespace": self.namespace, "ownerReferences": [owned]}
        body = {"metadata": metadata, "spec": {"domain": {"devices": {}}}}
        await self.client.create(VIRTUAL_MACHINE_INSTANCES.raw, body)
        await self.client.raw("DELETE", f"{place}/owner")
        await self.until_gone(VIRTUAL_MACHINE_INSTANCES, "owned")
        self._leaves_instances_behind = True

    async def told(self, name: str, reason: str) -> list[str]:
        """Events of an object, once there are any: they are written a moment after what they tell of."""
        found: list[str] = []

        async def are_there() -> bool:
            found[:] = await self._events(name, reason)
            return bool(found)

        await waiting.until(are_there, limit_s=LIMIT_S, what=f"{name} is told of {reason}")
        return found

    async def _events(self, name: str, reason: str) -> list[str]:
        found = (await self.client.list(EVENTS, self.namespace)).items
        return [
            each.message or ""
            for each in found
            if each.involved_object.name == name and each.reason == reason
        ]

    # What it cost

    def writes(self) -> list[str]:
        """By virt-controller in this namespace, as the server has noted them; without events and leases."""
        told = []
        for line in self._audit_log.read_text().splitlines():
            with suppress(json.JSONDecodeError):  # the last line may be half written
                told.append(json.loads(line))
        return [
            _described(each)
            for each in told
            if each.get("stage", "ResponseComplete") == "ResponseComplete"
            and each["verb"] in WRITES
            and each.get("userAgent") == self.agent
            and each.get("objectRef", {}).get("resource") not in {"events", "leases"}
        ]

    async def settle(self) -> None:
        """A server writes down what it did a moment after it answered."""
        seen: list[str] | None = None
        while (now := self.writes()) != seen:
            seen = now
            await asyncio.sleep(0.3)

    # The end

    async def clear(self) -> None:
        """Whatever a test has left, also one that failed."""
        for resource in (VIRTUAL_MACHINES, VIRTUAL_MACHINE_INSTANCES, PODS):
            for found in (await self.client.list(resource.metadata_only, self.namespace)).items:
                name = found.metadata.name
                with suppress(NotFound):
                    patch = MergePatch({"metadata": {"finalizers": None}})
                    if found.metadata.finalizers:
                        await self.client.patch(resource.metadata_only, name, patch, self.namespace)
                    await self.client.delete(
                        resource.metadata_only, name, self.namespace, grace_period_s=0
                    )


def _described(event: dict[str, Any]) -> str:
    about = event.get("objectRef", {})
    parts = [about.get("resource", "?"), about.get("subresource", "")]
    code = event.get("responseStatus", {}).get("code", 0)
    return f"{event['verb']} {'/'.join(filter(None, parts))} {code}"


def reconciles(controller: VirtController) -> Counter[str]:
    return controller.machines.controller.outcomes + controller.instances.controller.outcomes
