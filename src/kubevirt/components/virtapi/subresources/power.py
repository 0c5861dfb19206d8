"""Start, stop, restart: `virt.commands.power` says what they change, here it is written.

Each write holds only if the machine is still the one that was decided on; if it is not, the decision is made anew, at
longer and longer intervals: whoever is at it may write several times in a row.
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
from kubevirt.virt.machine.requests import Requests

log = get_logger(__name__)

PATIENCE_S: Final = 10.0
PAUSE_S: Final = 0.01
"""The first; each is twice the one before it."""
LONGEST_PAUSE_S: Final = 1.0
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
        clock, pause_s = self._parts.clock, PAUSE_S
        ends = clock.monotonic() + PATIENCE_S
        while clock.monotonic() < ends:
            seen = await self._look(asked)
            plan = decide(seen.vm, seen.vmi, options)
            try:
                await self._write(seen, plan, is_dry=is_dry)
            except (Conflict, Invalid):
                # Either somebody was first, or it is refused as it is.
                if (await self._look(asked)).mark == seen.mark:
                    raise
            else:
                return web.Response(status=202)
            await clock.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
        log.warning("others write to a machine all the time", name=asked.name, for_s=PATIENCE_S)
        raise conflict(MACHINE, asked.name, MOVED)

    async def _look(self, asked: Asked) -> "_Seen":
        raw = await objects.raw_machine(self._client, asked)
        vm = msgspec.convert(raw, VirtualMachine)
        vmi = await objects.instance_of(self._client, vm)
        return _Seen(vm, vmi, raw.get("status") is not None)

    async def _write(self, seen: "_Seen", plan: PowerPlan, *, is_dry: bool) -> None:
        vmi = seen.vmi
        if plan.grace_s is not None and vmi is not None:
            await self._set_grace(vmi, plan.grace_s, is_dry=is_dry)
        try:
            await self._change(seen, plan, is_dry=is_dry)
        except ApiError:
            if plan.grace_s is not None and vmi is not None and not is_dry:
                await self._give_back(vmi, plan.grace_s)
            raise

    async def _change(self, seen: "_Seen", plan: PowerPlan, *, is_dry: bool) -> None:
        meta, machines = seen.vm.metadata, VIRTUAL_MACHINES.metadata_only
        if plan.strategy is not None:
            patch = seen.patch.add(*_strategy(seen.vm, plan.strategy))
            await self._client.patch(machines, meta.name, patch, meta.namespace, dry_run=is_dry)
        if plan.requests is not None:
            patch = seen.patch.add(*_requests(seen, plan.requests))
            await self._client.patch_status(
                machines, meta.name, patch, meta.namespace, dry_run=is_dry
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


class _Seen(msgspec.Struct, frozen=True):
    """What a decision is made on."""

    vm: VirtualMachine
    vmi: VirtualMachineInstance | None
    has_status: bool

    @property
    def mark(self) -> tuple[str | None, str]:
        """Another one if anything is another."""
        return self.vm.metadata.resource_version, self.vmi.metadata.uid if self.vmi else ""

    @property
    def patch(self) -> JsonPatch:
        """Of the machine that was looked at, and of none that changed since."""
        return JsonPatch().test("/metadata/resourceVersion", self.vm.metadata.resource_version)


def _same(vmi: VirtualMachineInstance) -> JsonPatch:
    return JsonPatch().test("/metadata/uid", vmi.metadata.uid)


def _strategy(vm: VirtualMachine, wanted: str) -> tuple[str, Any]:
    """By the field that the machine uses."""
    if vm.spec.running is not None:
        return "/spec/running", wanted == strategies.ALWAYS
    return "/spec/runStrategy", wanted


def _requests(seen: _Seen, wanted: Requests) -> tuple[str, Any]:
    asked = msgspec.to_builtins(wanted)
    if seen.has_status:
        return "/status/stateChangeRequests", asked
    return "/status", {"stateChangeRequests": asked}
