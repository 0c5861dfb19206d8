"""Actions of an instance's plan: its launcher's pod is created, deleted, or told to be ready."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final, assert_never

import msgspec

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.core.pod import Pod
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.clock import Clock
from kubevirt.base.errors import UserError
from kubevirt.components.controller.caches import Caches
from kubevirt.components.controller.failures import CarryingOutFailed
from kubevirt.components.controller.kept import LAUNCHER_PODS
from kubevirt.components.controller.telling import Teller
from kubevirt.kube.client import Client
from kubevirt.kube.errors import Forbidden, NotFound
from kubevirt.kube.expectations import Expectations
from kubevirt.kube.key import Key
from kubevirt.kube.patches import StrategicMergePatch
from kubevirt.virt.happening import Failure
from kubevirt.virt.instance import happenings, way_out
from kubevirt.virt.instance.actions import Action, CreatePod, DeletePod, SetGate
from kubevirt.virt.instance.claims import Claims, blocks
from kubevirt.virt.instance.names import UNPAUSED_GATE
from kubevirt.virt.pod.config import PodConfig
from kubevirt.virt.pod.rendering import render

INSECURE: Final = "violates PodSecurity"
"""How Kubernetes says that a namespace does not take such pods."""


class Carrying:
    def __init__(
        self,
        client: Client,
        clock: Clock,
        caches: Caches,
        teller: Teller,
        expectations: Expectations[Key],
        *,
        configuration: Callable[[], KubeVirtConfiguration],
        launcher_image: str,
        again: Callable[[Key], None],
    ) -> None:
        self._client = client
        self._clock = clock
        self._caches = caches
        self._teller = teller
        self._expectations = expectations
        self._configuration = configuration
        self._launcher_image = launcher_image
        self._again = again

    async def out(self, vmi: VirtualMachineInstance, action: Action, claims: Claims) -> None:
        match action:
            case CreatePod():
                await self._create(vmi, self._pod(vmi, claims))
            case DeletePod(name, uid):
                await self._delete(vmi, name, uid)
            case SetGate():
                await self._set_gate(vmi, action)
            case _:
                assert_never(action)

    def _pod(self, vmi: VirtualMachineInstance, claims: Claims) -> Pod:
        try:
            config = PodConfig.of(
                self._configuration(),
                self._launcher_image,
                architecture=vmi.spec.architecture or "amd64",
                devices=self._caches.devices,
            )
            return render(vmi, config, blocks(vmi, claims))
        except UserError as error:
            raise self._not_created(vmi, "failed to render launch manifest", error) from error

    async def _create(self, vmi: VirtualMachineInstance, pod: Pod) -> None:
        try:
            with self._expectations.creation(Key.of(vmi)) as creation:
                made = await self._client.create(LAUNCHER_PODS, msgspec.to_builtins(pod))
                creation.uid = made.metadata.uid
        except UserError as error:
            if isinstance(error, Forbidden) and INSECURE in str(error):
                raise self._not_let_in(vmi, error) from error
            words = "failed to create virtual machine pod"
            raise self._not_created(vmi, words, error) from error
        self._teller.tell(vmi, happenings.pod_created(made.metadata.name))

    def _not_created(
        self, vmi: VirtualMachineInstance, words: str, error: UserError
    ) -> CarryingOutFailed:
        self._teller.tell(vmi, happenings.pod_not_created(str(error)))
        return CarryingOutFailed(Failure("FailedCreate", f"{words}: {error}"), error)

    def _not_let_in(self, vmi: VirtualMachineInstance, error: UserError) -> CarryingOutFailed:
        """The namespace takes no pod that may do what this one may: a host disk is the node's."""
        key = Key.of(vmi)
        why = way_out.of_no_privilege(str(error), key.namespace)
        words = f"failed to create pod for vmi {key}, it needs a privileged namespace to run: {why}"
        self._teller.tell(vmi, happenings.pod_too_privileged(words))
        return CarryingOutFailed(Failure("FailedCreate", words), error)

    async def _delete(self, vmi: VirtualMachineInstance, name: str, uid: str) -> None:
        try:
            with self._expectations.deletion(Key.of(vmi), uid):
                await self._client.delete(LAUNCHER_PODS, name, vmi.metadata.namespace, uid=uid)
        except NotFound:
            return
        except UserError as error:
            self._teller.tell(vmi, happenings.pod_not_deleted(name, str(error)))
            words = f"failed to delete virtual machine pod {name}: {error}"
            raise CarryingOutFailed(Failure("FailedDelete", words), error) from error
        self._teller.tell(vmi, happenings.pod_deleted(name))

    async def _set_gate(self, vmi: VirtualMachineInstance, gate: SetGate) -> None:
        condition = {
            "type": UNPAUSED_GATE,
            "status": "True" if gate.is_open else "False",
            "reason": gate.reason,
            "lastTransitionTime": self._clock.now().replace(microsecond=0),
        }
        key = Key(vmi.metadata.namespace or "", gate.name)
        patch = StrategicMergePatch(
            {"metadata": {"uid": gate.uid}, "status": {"conditions": [condition]}}
        )
        with suppress(NotFound):
            async with self._caches.pods.writing(key, lambda _: self._again(Key.of(vmi))) as write:
                write.answer = await self._client.patch_status(
                    LAUNCHER_PODS, key.name, patch, key.namespace
                )
