"""Start, stop, restart: `virt.commands.power` says what they change, here it is written.

Each write holds only if the machine is still the one that was decided on; if it is not, the decision is made anew.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

import msgspec
from aiohttp import web

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine
from kubevirt.api.requests import RestartOptions, StartOptions, StopOptions
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES
from kubevirt.base.log import get_logger
from kubevirt.components.virtapi import bodies
from kubevirt.components.virtapi.parts import Parts
from kubevirt.components.virtapi.path import Asked
from kubevirt.components.virtapi.subresources import objects
from kubevirt.kube.errors import ApiError, Conflict, Invalid
from kubevirt.kube.patches import JsonPatch
from kubevirt.virt.commands import power
from kubevirt.virt.commands.power import PowerPlan
from kubevirt.virt.commands.refusal import MACHINE, conflict
from kubevirt.virt.machine import strategy as strategies

log = get_logger(__name__)

TRIES: Final = 5
GRACE: Final = "/spec/terminationGracePeriodSeconds"
MOVED: Final = (
    "the object has been modified; please apply your changes to the latest version and try again"
)

O = TypeVar("O", StartOptions, StopOptions, RestartOptions)  # noqa: E741  # options
Decide = Callable[[VirtualMachine, VirtualMachineInstance | None, O], PowerPlan]


class Power:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._client = parts.client

    async def start(self, request: web.BaseRequest, asked: Asked) -> web.Response:
        options = await bodies.options(request, StartOptions, self._parts.clock)
        return await self._carried_out(asked, power.start, options)

    async def stop(self, request: web.BaseRequest, asked: Asked) -> web.Response:
        options = await bodies.options(request, StopOptions, self._parts.clock)
        return await self._carried_out(asked, power.stop, options)

    async def restart(self, request: web.BaseRequest, asked: Asked) -> web.Response:
        options = await bodies.options(request, RestartOptions, self._parts.clock)
        return await self._carried_out(asked, power.restart, options)

    async def _carried_out(self, asked: Asked, decide: Decide[O], options: O) -> web.Response:
        is_dry = bodies.is_dry(options.dry_run)
        for _ in range(TRIES):
            vm = await objects.machine(self._client, asked)
            vmi = await objects.instance_of(self._client, vm)
            plan = decide(vm, vmi, options)
            try:
                await self._write(vm, vmi, plan, is_dry=is_dry)
            except (Conflict, Invalid):
                # Either somebody was first, or it is refused as it is.
                if not await self._has_changed(asked, vm):
                    raise
            else:
                return web.Response(status=202)
        raise conflict(MACHINE, asked.name, MOVED)

    async def _has_changed(self, asked: Asked, vm: VirtualMachine) -> bool:
        now = await objects.machine(self._client, asked)
        return now.metadata.resource_version != vm.metadata.resource_version

    async def _write(
        self,
        vm: VirtualMachine,
        vmi: VirtualMachineInstance | None,
        plan: PowerPlan,
        *,
        is_dry: bool,
    ) -> None:
        if plan.grace_s is not None and vmi is not None:
            await self._set_grace(vmi, plan.grace_s, is_dry=is_dry)
        try:
            await self._change(vm, plan, is_dry=is_dry)
        except ApiError:
            if plan.grace_s is not None and vmi is not None and not is_dry:
                await self._give_back(vmi, plan.grace_s)
            raise

    async def _change(self, vm: VirtualMachine, plan: PowerPlan, *, is_dry: bool) -> None:
        meta = vm.metadata
        seen = _seen(vm)
        if plan.strategy is not None:
            patch = seen.add(*_strategy(vm, plan.strategy))
            await self._client.patch(
                VIRTUAL_MACHINES.metadata_only, meta.name, patch, meta.namespace, dry_run=is_dry
            )
        if plan.requests is not None:
            asked = msgspec.to_builtins(plan.requests)
            raw = await self._client.get(VIRTUAL_MACHINES.raw, meta.name, meta.namespace)
            patch = (
                seen.add("/status/stateChangeRequests", asked)
                if raw.get("status") is not None
                else seen.add("/status", {"stateChangeRequests": asked})
            )
            await self._client.patch_status(
                VIRTUAL_MACHINES.metadata_only, meta.name, patch, meta.namespace, dry_run=is_dry
            )

    async def _set_grace(self, vmi: VirtualMachineInstance, grace_s: int, *, is_dry: bool) -> None:
        await self._patch_instance(vmi, _same(vmi).add(GRACE, grace_s), is_dry=is_dry)

    async def _give_back(self, vmi: VirtualMachineInstance, grace_s: int) -> None:
        """The guest keeps the time it had: what it was taken for did not come about."""
        before = vmi.spec.termination_grace_period_seconds
        patch = _same(vmi).test(GRACE, grace_s)
        patch = patch.remove(GRACE) if before is None else patch.replace(GRACE, before)
        with suppress(ApiError):
            await self._patch_instance(vmi, patch, is_dry=False)

    async def _patch_instance(
        self, vmi: VirtualMachineInstance, patch: JsonPatch, *, is_dry: bool
    ) -> None:
        meta = vmi.metadata
        await self._client.patch(
            VIRTUAL_MACHINE_INSTANCES.metadata_only,
            meta.name,
            patch,
            meta.namespace,
            dry_run=is_dry,
        )


def _seen(vm: VirtualMachine) -> JsonPatch:
    """A patch of the machine that was looked at, and of none that changed since."""
    return JsonPatch().test("/metadata/resourceVersion", vm.metadata.resource_version)


def _same(vmi: VirtualMachineInstance) -> JsonPatch:
    return JsonPatch().test("/metadata/uid", vmi.metadata.uid)


def _strategy(vm: VirtualMachine, wanted: str) -> tuple[str, Any]:
    """By the field that the machine uses."""
    if vm.spec.running is not None:
        return "/spec/running", wanted == strategies.ALWAYS
    return "/spec/runStrategy", wanted
