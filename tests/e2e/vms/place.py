"""A test's own place in the home: a namespace, and what a user does with virtual machines in it.

    await place.create(a_vm("web", runStrategy="Always"))
    await place.until_status("web", "Running")
    with place.console("web") as guest:
        guest.log_in()
        assert guest.run("uname") == "Linux"

Every wait has a limit; one that was in vain says how the object stands and what was told of it.
"""

import asyncio
import json
import secrets
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.nouns.guests import Guest
from tests.e2e.standalone.driver import Session
from tests.e2e.vms import shared_home, traces

from kubevirt.api import scheme
from kubevirt.api.resource import Resource
from kubevirt.base.errors import Retry
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.patches import MergePatch
from kubevirt.kube.watch import EventType
from kubevirt.testing.home import Said, TrialHome, virtctl_program

Object = dict[str, Any]
LIMIT_S = 240.0
"""To end a hang, also on a busy machine; what is waited for takes seconds."""
RETRY_S = 0.1

VMS = scheme.VIRTUAL_MACHINES.raw
VMIS = scheme.VIRTUAL_MACHINE_INSTANCES.raw
PODS = scheme.PODS.raw
EVENTS = scheme.EVENTS.raw
RESOURCES: Mapping[str, Resource[Object]] = {
    resource.kind: resource.raw
    for resource in (
        scheme.VIRTUAL_MACHINES,
        scheme.VIRTUAL_MACHINE_INSTANCES,
        scheme.PODS,
        scheme.SERVICES,
        scheme.CONFIG_MAPS,
        scheme.SECRETS,
        scheme.PERSISTENT_VOLUME_CLAIMS,
        scheme.SERVICE_ACCOUNTS,
    )
}
OF_GUESTS = ("VirtualMachineInstance", "Pod")


async def a_place(client: Client, home: TrialHome) -> "Place":
    """A new one; whoever is done with it leaves it."""
    made = await client.create(scheme.NAMESPACES.raw, {"metadata": {"generateName": "vms-"}})
    return Place(client, home, made["metadata"]["name"])


class Place:
    def __init__(self, client: Client, home: TrialHome, namespace: str) -> None:
        self.client = client
        self.home = home
        self.namespace = namespace

    # What a user types.

    def kubectl(self, *words: str, limit_s: float = LIMIT_S, typed: str = "") -> Said:
        """Stock kubectl, in this namespace."""
        done = subprocess.run(
            [shared_home.kubectl_program(), f"--namespace={self.namespace}", *words],
            input=typed,
            capture_output=True,
            text=True,
            check=False,
            timeout=limit_s,
            env=self.home.environment,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def virtctl(self, *words: str, limit_s: float = LIMIT_S) -> Said:
        return self.home.virtctl(f"--namespace={self.namespace}", *words, limit_s=limit_s)

    def said_by_a_pod(self, *words: str) -> str:
        """What a program prints that runs to its end in a pod of the built-in image. Not by `kubectl run --attach`, which
        misses what is printed before it is attached.
        """
        name = f"pod-{secrets.token_hex(4)}"
        until_ended = "--for=jsonpath={.status.phase}=Succeeded"
        for command in (
            ("run", name, "--restart=Never", "--image=kubevirt.io/built-in", "--", *words),
            ("wait", f"pod/{name}", until_ended, f"--timeout={LIMIT_S:g}s"),
        ):
            said = self.kubectl(*command)
            assert said.code == 0, said.err + self.kubectl("logs", name).out
        return self.kubectl("logs", name).out

    @contextmanager
    def console(self, name: str) -> Iterator[Guest]:
        """`virtctl console`, with nobody logged in yet."""
        words = [str(virtctl_program()), f"--namespace={self.namespace}", "console", name, "--wait"]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            words, stdin=pipe, stdout=pipe, stderr=pipe, env=self.home.environment
        ) as process:
            assert process.stdin
            assert process.stdout
            session = Session(process, process.stdin.fileno(), process.stdout.fileno())
            session.type("\n")  # a guest that has asked already who logs in asks again
            try:
                yield Guest(session, Path())
            finally:
                session.give_up()

    # Making and changing.

    async def create(self, *wanted: Object) -> Object:
        """The last of them, as the server has it."""
        made: Object = {}
        for one in wanted:
            made = await self.client.create(RESOURCES[one["kind"]], one, self.namespace)
        return made

    async def change(self, name: str, patch: Object, kind: str = "VirtualMachine") -> Object:
        return await self.client.patch(RESOURCES[kind], name, MergePatch(patch), self.namespace)

    async def delete(self, name: str, kind: str = "VirtualMachine") -> None:
        await self.client.delete(RESOURCES[kind], name, self.namespace)

    # Looking.

    async def vm(self, name: str) -> Object:
        return await self.client.get(VMS, name, self.namespace)

    async def vmi(self, name: str) -> Object:
        return await self.client.get(VMIS, name, self.namespace)

    async def pod(self, name: str) -> Object:
        """Of the guest, its launcher's."""
        found = await self.client.list(
            PODS, self.namespace, label_selector=f"vm.kubevirt.io/name={name}"
        )
        assert len(found.items) == 1, [each["metadata"]["name"] for each in found.items]
        return found.items[0]

    async def until_status(self, name: str, *wanted: str) -> Object:
        """The machine, when its printableStatus is one of these."""
        return await self.until(
            name, lambda vm: vm.get("status", {}).get("printableStatus") in wanted, str(wanted)
        )

    async def until_phase(self, name: str, *wanted: str) -> Object:
        """The instance."""
        return await self.until(
            name,
            lambda vmi: vmi.get("status", {}).get("phase") in wanted,
            str(wanted),
            kind="VirtualMachineInstance",
        )

    async def until(
        self,
        name: str,
        is_so: Callable[[Object], bool],
        what: str,
        *,
        kind: str = "VirtualMachine",
        limit_s: float = LIMIT_S,
    ) -> Object:
        """An object, as soon as it is as wanted. A server that is away meanwhile is waited for."""
        seen: list[Object] = []
        try:
            async with asyncio.timeout(limit_s):
                while True:
                    try:
                        return await self._seen(name, kind, is_so, seen)
                    except Retry:
                        await asyncio.sleep(RETRY_S)
        except TimeoutError:
            raise await self._disappointment(name, what, seen, limit_s) from None

    async def until_gone(self, name: str, kind: str = "VirtualMachine") -> None:
        try:
            async with asyncio.timeout(LIMIT_S):
                while True:
                    try:
                        await self._watch_to_its_end(name, kind)
                    except NotFound:
                        return
                    except Retry:
                        await asyncio.sleep(RETRY_S)
        except TimeoutError:
            raise await self._disappointment(name, "gone", [], LIMIT_S) from None

    async def _seen(
        self, name: str, kind: str, is_so: Callable[[Object], bool], seen: list[Object]
    ) -> Object:
        while True:
            watch = self.client.watch(
                RESOURCES[kind],
                self.namespace,
                resource_version=None,
                field_selector=f"metadata.name={name}",
            )
            async with aclosing(watch) as events:
                async for event in events:
                    if event.type is EventType.DELETED or not isinstance(event.object, dict):
                        continue
                    seen[:] = [event.object]
                    if is_so(event.object):
                        return event.object

    async def _watch_to_its_end(self, name: str, kind: str) -> None:
        """Raises NotFound when there is no such object."""
        found = await self.client.get(RESOURCES[kind], name, self.namespace)
        watch = self.client.watch(
            RESOURCES[kind],
            self.namespace,
            resource_version=found["metadata"]["resourceVersion"],
            field_selector=f"metadata.name={name}",
        )
        async with aclosing(watch) as events:
            async for event in events:
                if event.type is EventType.DELETED:
                    return

    async def events(self, name: str) -> Sequence[Object]:
        """What was told of an object of that name, of whatever kind, in order."""
        listed = await self.client.list(
            EVENTS, self.namespace, field_selector=f"involvedObject.name={name}"
        )
        return sorted(listed.items, key=lambda one: one["metadata"]["creationTimestamp"])

    async def until_event(self, name: str, reason: str, text: str = "") -> Object:
        """One of that reason whose message has the text in it."""
        try:
            async with asyncio.timeout(LIMIT_S):
                while True:
                    for one in await self.events(name):
                        if one["reason"] == reason and text in one.get("message", ""):
                            return one
                    await asyncio.sleep(RETRY_S)
        except TimeoutError:
            raise await self._disappointment(name, f"{reason} {text!r}", [], LIMIT_S) from None

    async def _disappointment(
        self, name: str, what: str, seen: Sequence[Object], limit_s: float
    ) -> AssertionError:
        status = json.dumps(seen[-1].get("status") if seen else "never seen", indent=1)
        told = [
            f"{one['involvedObject']['kind']} {one['reason']}: {one.get('message')}"
            for one in (await self.client.list(EVENTS, self.namespace)).items
        ]
        return AssertionError(
            f"{name} is not {what} within {limit_s:g} s: {status}\nevents: {told}"
        )

    # Leaving.

    async def leave(self) -> None:
        """Everything is deleted, and nothing of it may be left on the machine."""
        uids = await self._uids()
        for kind in ("VirtualMachine", "VirtualMachineInstance", "Pod", "PersistentVolumeClaim"):
            await self.client.delete_collection(RESOURCES[kind], self.namespace)
        for kind in ("VirtualMachine", "VirtualMachineInstance", "Pod"):
            for one in (await self.client.list(RESOURCES[kind], self.namespace)).items:
                await self.until_gone(one["metadata"]["name"], kind)
        traces.assert_none(self.home.path, uids)

    async def _uids(self) -> set[str]:
        """Of all instances and pods that have been here, also of those that are gone: events tell of them."""
        found = {
            one["metadata"]["uid"]
            for kind in OF_GUESTS
            for one in (await self.client.list(RESOURCES[kind], self.namespace)).items
        }
        told = [
            each["involvedObject"]
            for each in (await self.client.list(EVENTS, self.namespace)).items
        ]
        return found | {one["uid"] for one in told if one["kind"] in OF_GUESTS}
