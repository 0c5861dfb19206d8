"""Actions of a machine's plan, carried out one after the other.

What is refused becomes a `CarryingOutFailed`: the machine's condition tells it, and an event. What is gone already needs
no deletion, and what is there already no second copy.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, assert_never

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine
from kubevirt.api.scheme import CONTROLLER_REVISIONS, VIRTUAL_MACHINE_INSTANCES
from kubevirt.base.errors import UserError
from kubevirt.components.controller.caches import Caches
from kubevirt.components.controller.failures import CarryingOutFailed
from kubevirt.components.controller.kept import MACHINES
from kubevirt.components.controller.machines.copies import manifest
from kubevirt.components.controller.telling import Teller
from kubevirt.kube.client import Client
from kubevirt.kube.errors import AlreadyExists, NotFound
from kubevirt.kube.expectations import Expectations
from kubevirt.kube.key import Key
from kubevirt.kube.patches import only_if_unchanged
from kubevirt.virt.happening import Failure
from kubevirt.virt.instance.names import MACHINE_FINALIZER
from kubevirt.virt.machine import happenings
from kubevirt.virt.machine.actions import (
    Action,
    AddFinalizer,
    Adopt,
    CreateInstance,
    CreateRevision,
    DeleteInstance,
    DeleteRevision,
    RemoveFinalizer,
    SetAlways,
)
from kubevirt.virt.ownership import reference_to


class Carrying:
    def __init__(
        self,
        client: Client,
        caches: Caches,
        teller: Teller,
        expectations: Expectations[Key],
        again: Callable[[Key], None],
    ) -> None:
        self._client = client
        self._caches = caches
        self._teller = teller
        self._expectations = expectations
        self._again = again

    async def out(self, vm: VirtualMachine, action: Action) -> VirtualMachine:
        """The machine as it is then."""
        match action:
            case CreateInstance() | DeleteInstance() | Adopt():
                await self._change_instance(vm, action)
            case CreateRevision() | DeleteRevision():
                await self._change_revisions(vm, action)
            case AddFinalizer():
                finalizers = [*vm.metadata.finalizers, MACHINE_FINALIZER]
                return await self._patch(vm, {}, {"finalizers": finalizers})
            case RemoveFinalizer():
                await self._let_go(vm)
            case SetAlways(has_running_field):
                field = {"running": True} if has_running_field else {"runStrategy": "Always"}
                return await self._patch(vm, {"spec": field})
            case _:
                assert_never(action)
        return vm

    # The machine itself

    async def _patch(
        self, vm: VirtualMachine, body: dict[str, Any], metadata: dict[str, Any] | None = None
    ) -> VirtualMachine:
        key = Key.of(vm)
        patch = only_if_unchanged(vm, body, metadata)
        async with self._caches.machines.writing(key, self._again) as write:
            write.answer = await self._client.patch(MACHINES, key.name, patch, key.namespace)
        return write.answer.whole

    async def _let_go(self, vm: VirtualMachine) -> None:
        key = Key.of(vm)
        left = [each for each in vm.metadata.finalizers if each != MACHINE_FINALIZER]
        patch = only_if_unchanged(vm, {}, {"finalizers": left})
        with suppress(NotFound):
            await self._client.patch(MACHINES, key.name, patch, key.namespace)

    # Its copies

    async def _change_revisions(
        self, vm: VirtualMachine, action: CreateRevision | DeleteRevision
    ) -> None:
        namespace = vm.metadata.namespace
        try:
            match action:
                case CreateRevision(copy):
                    with suppress(AlreadyExists):  # of that generation there is only one
                        path = CONTROLLER_REVISIONS.path(namespace)
                        await self._client.raw("POST", path, manifest(copy))
                case DeleteRevision(name):
                    with suppress(NotFound):
                        await self._client.delete(CONTROLLER_REVISIONS, name, namespace)
        except UserError as error:
            raise _failed("FailedCreate", "a copy of its spec cannot be kept", error) from error

    # Its instance

    async def _change_instance(
        self, vm: VirtualMachine, action: CreateInstance | DeleteInstance | Adopt
    ) -> None:
        match action:
            case CreateInstance(instance):
                await self._create(vm, instance)
            case DeleteInstance():
                await self._delete(vm, action)
            case Adopt(uid):
                await self._adopt(vm, uid)

    async def _create(self, vm: VirtualMachine, instance: VirtualMachineInstance) -> None:
        name = vm.metadata.name
        try:
            with self._expectations.creation(Key.of(vm)) as creation:
                made = await self._client.create(VIRTUAL_MACHINE_INSTANCES, instance)
                creation.uid = made.metadata.uid
        except UserError as error:
            self._teller.tell(vm, happenings.not_started(name, str(error)))
            raise _failed("FailedCreate", f"{name} cannot be started", error) from error
        self._teller.tell(vm, happenings.started(name))

    async def _delete(self, vm: VirtualMachine, action: DeleteInstance) -> None:
        name = action.name
        try:
            with self._expectations.deletion(Key.of(vm), action.uid):
                await self._client.delete(
                    VIRTUAL_MACHINE_INSTANCES,
                    name,
                    vm.metadata.namespace,
                    uid=action.uid,
                    resource_version=action.version,
                )
        except NotFound:
            return
        except UserError as error:
            self._teller.tell(vm, happenings.not_stopped(name, str(error)))
            raise _failed("FailedDelete", f"{name} cannot be stopped", error) from error
        self._teller.tell(vm, happenings.stopped(name))

    async def _is_there_to_stay(self, vm: VirtualMachine) -> bool:
        """Asked of the server. A guest without owner may be one that this very machine leaves behind, and of its end the
        cache need not have heard when it hears of the guest's: adopted again, the guest would go with it.
        """
        try:
            live = await self._client.get(MACHINES, vm.metadata.name, vm.metadata.namespace)
        except NotFound:
            return False
        return live.metadata.uid == vm.metadata.uid and live.metadata.deletion_timestamp is None

    async def _adopt(self, vm: VirtualMachine, uid: str) -> None:
        vmi = self._caches.instances.get(Key.of(vm))
        if vmi is None or vmi.metadata.uid != uid:
            return  # another by now, of which the cache has told
        if not await self._is_there_to_stay(vm):
            return
        owners = (*vmi.metadata.owner_references, reference_to(vm, "VirtualMachine"))
        patch = only_if_unchanged(vmi, {}, {"ownerReferences": msgspec.to_builtins(owners)})
        with suppress(NotFound):
            await self._client.patch(
                VIRTUAL_MACHINE_INSTANCES, vmi.metadata.name, patch, vmi.metadata.namespace
            )


def _failed(reason: str, what: str, error: UserError) -> CarryingOutFailed:
    return CarryingOutFailed(Failure(reason, f"{what}: {error}"), error)
