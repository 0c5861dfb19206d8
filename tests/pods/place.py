r"""A test's own place in the cluster: a namespace, and what one does in it.

    await place.create(a_service("web"), a_web_server("web"))
    await place.until_ready("web")
    assert await place.output("exec busybox wget -q -O - http://web") == "web\n"

Every wait has a limit; one that was in vain says how the pod stands and what has happened to it.
"""

import asyncio
import json
import re
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from pathlib import Path
from typing import Any

from tests.pods import objects
from tests.pods.home import KUBERNETES, Home
from tests.pods.objects import Object, a_pod, condition, is_true, phase

from clusterup import errors, processes, waiting
from kubevirt.api import scheme
from kubevirt.api.resource import Resource
from kubevirt.base import commands
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.http.containers import Channel
from kubevirt.kube.patches import MergePatch
from kubevirt.kube.watch import EventType, WatchEvent

LIMIT_S = 120.0
"""To end a hang, also on a busy machine; what is waited for takes a second or two."""

KILLED = 128 + signal.SIGKILL

PODS = scheme.PODS.raw
EVENTS = scheme.EVENTS.raw
_MISSED = re.compile(
    rb'rpc error: code = NotFound desc = an error occurred when try to find container "\w+": not found$'
)
"""What Kubernetes' kubelet adds to a log that it follows, now and then: it looks whether the container runs on when that
is gone already.
"""
RESOURCES: Mapping[str, Resource[Object]] = {
    resource.kind: resource.raw
    for resource in (
        scheme.PODS,
        scheme.SERVICES,
        scheme.CONFIG_MAPS,
        scheme.SECRETS,
        scheme.SERVICE_ACCOUNTS,
        scheme.PERSISTENT_VOLUMES,
        scheme.PERSISTENT_VOLUME_CLAIMS,
        scheme.POD_DISRUPTION_BUDGETS,
        scheme.ENDPOINT_SLICES,
        scheme.LEASES,
        scheme.NODES,
    )
}
ENDED = ("Succeeded", "Failed")


class Place:
    def __init__(self, client: Client, home: Home, namespace: str) -> None:
        self.client = client
        self.home = home
        self.namespace = namespace

    async def until_furnished(self) -> None:
        """Until pods can run in a namespace that has just been made."""
        await self.until("default", lambda _: True, "there", kind="ServiceAccount")
        await self.until("kube-root-ca.crt", lambda _: True, "there", kind="ConfigMap")

    # Making.

    async def create(self, *wanted: Object) -> None:
        for one in wanted:
            resource = RESOURCES[one["kind"]]
            namespace = self.namespace if resource.namespaced else None
            await self.client.create(resource, self._with_images(one), namespace)

    async def run(self, pod: Object) -> Object:
        """A pod, made and Ready."""
        await self.create(pod)
        return await self.until_ready(pod["metadata"]["name"])

    async def finish(self, pod: Object) -> Object:
        """A pod, made and at its end. It is not started again unless it says so itself."""
        pod["spec"].setdefault("restartPolicy", "Never")
        await self.create(pod)
        return await self.until_ended(pod["metadata"]["name"])

    async def output(self, script: str, name: str = "probe", **spec: Any) -> str:
        """What a script prints, run as a pod of its own to a good end."""
        pod = await self.finish(a_pod(name, script, **spec))
        said = await self.log(name)
        assert phase(pod) == "Succeeded", f"{said}\n{objects.ended(pod)}"
        return said

    async def change(self, name: str, patch: Mapping[str, Any], kind: str = "Pod") -> Object:
        return await self.client.patch(RESOURCES[kind], name, MergePatch(patch), self.namespace)

    def _with_images(self, one: Object) -> Object:
        """Containers that name no image get the one that both homes have."""
        if one["kind"] != "Pod":
            return one
        spec = {**one["spec"]}
        default = {"image": self.home.image, "imagePullPolicy": "IfNotPresent"}
        for group in ("initContainers", "containers"):
            if group in spec:
                spec[group] = [
                    container if "image" in container else default | container
                    for container in spec[group]
                ]
        return {**one, "spec": spec}

    # Looking.

    async def pod(self, name: str) -> Object:
        return await self.client.get(PODS, name, self.namespace)

    async def until(
        self,
        name: str,
        is_so: Callable[[Object], bool],
        what: str,
        *,
        kind: str = "Pod",
        limit_s: float = LIMIT_S,
    ) -> Object:
        """An object, as soon as it is as wanted."""
        seen: Object | None = None
        try:
            async with asyncio.timeout(limit_s):
                async with aclosing(self.states(name, kind=kind)) as states:
                    async for event in states:
                        if event.type is EventType.DELETED or not isinstance(event.object, dict):
                            continue
                        seen = event.object
                        if is_so(seen):
                            return seen
        except TimeoutError:
            pass
        raise await self._disappointment(name, what, seen, limit_s)

    async def states(
        self, name: str, *, kind: str = "Pod"
    ) -> AsyncGenerator[WatchEvent[Object], None]:
        """An object as it is, and then each time that it changes. DELETED without an object at first:
        it is not there.
        """
        resource, selector = RESOURCES[kind], f"metadata.name={name}"
        namespace = self.namespace if resource.namespaced else None
        listed = await self.client.list(resource, namespace, field_selector=selector)
        for one in listed.items:
            yield WatchEvent(EventType.ADDED, one, listed.resource_version)
        version = listed.resource_version
        if not listed.items:
            yield WatchEvent(EventType.DELETED, None, version)
        while True:
            watch = self.client.watch(
                resource,
                namespace,
                resource_version=version,
                field_selector=selector,
                allow_bookmarks=False,
            )
            async for event in watch:
                version = event.resource_version
                yield event

    async def until_ready(self, name: str, limit_s: float = LIMIT_S) -> Object:
        return await self.until(name, lambda pod: is_true(pod, "Ready"), "Ready", limit_s=limit_s)

    async def until_running(self, name: str) -> Object:
        return await self.until(name, lambda pod: phase(pod) == "Running", "Running")

    async def until_ended(self, name: str, limit_s: float = LIMIT_S) -> Object:
        return await self.until(
            name, lambda pod: phase(pod) in ENDED, "at its end", limit_s=limit_s
        )

    async def until_waiting(self, name: str, reason: str, container: str = "main") -> Object:
        """Until a container cannot start, for that reason."""
        return await self.until(
            name, lambda pod: objects.waits_for(pod, container) == reason, f"waits: {reason}"
        )

    async def until_gone(self, name: str, kind: str = "Pod", limit_s: float = LIMIT_S) -> Object:
        """The object as it was last."""
        seen: Object = {}
        try:
            async with asyncio.timeout(limit_s):
                async with aclosing(self.states(name, kind=kind)) as states:
                    async for event in states:
                        assert isinstance(event.object, dict) or event.object is None
                        seen = event.object or seen
                        if event.type is EventType.DELETED:
                            return seen
        except TimeoutError:
            pass
        raise await self._disappointment(name, "gone", seen, limit_s)

    async def events(self, name: str) -> Sequence[Object]:
        """What was told of a pod, in order."""
        listed = await self.client.list(
            EVENTS, self.namespace, field_selector=f"involvedObject.name={name}"
        )
        return sorted(listed.items, key=lambda one: one["metadata"]["creationTimestamp"])

    async def until_event(self, name: str, reason: str, text: str = "") -> Object:
        selector = f"involvedObject.name={name}"
        try:
            async with asyncio.timeout(LIMIT_S):
                watch = self.client.watch(
                    EVENTS, self.namespace, resource_version=None, field_selector=selector
                )
                async with aclosing(watch) as told:
                    async for event in told:
                        one = event.object
                        if isinstance(one, dict) and _says(one, reason, text):
                            return one
        except TimeoutError:
            pass
        raise await self._disappointment(name, f"event {reason} {text!r}", None, LIMIT_S)

    async def _disappointment(
        self, name: str, what: str, seen: Object | None, limit_s: float
    ) -> AssertionError:
        status = json.dumps((seen or {}).get("status", "never seen"), indent=1)
        told = [f"{one['reason']}: {one.get('message')}" for one in await self.events(name)]
        return AssertionError(
            f"{name} is not {what} within {limit_s:g} s: {status}\nevents: {told}"
        )

    # Using.

    async def log(self, name: str, container: str | None = None, **options: Any) -> str:
        pieces = self.client.log(name, self.namespace, container=container, **options)
        return b"".join([piece async for piece in pieces]).decode()

    async def until_said(self, name: str, text: str, container: str | None = None) -> None:
        """Until a container's log is exactly this: one that has just started has not said it yet."""
        said = ""

        async def is_said() -> bool:
            nonlocal said
            said = await self.log(name, container)
            return said == text

        try:
            await waiting.until(is_said, limit_s=LIMIT_S, what=f"{text!r} in its log")
        except errors.Broken as late:
            raise AssertionError(f"{name}: {late}, which is {said!r}") from None

    async def sh(self, name: str, script: str, container: str | None = None) -> str:
        """What a script prints in a running container, to a good end."""
        code, said = await self.try_sh(name, script, container)
        assert code == 0, f"`{script}` ended with {code}: {said}"
        return said

    async def until_listening(self, name: str, container: str | None = None) -> None:
        """Until a container's program `when_told` hears what it is told."""
        await self.sh(name, "until [ -e /tmp/listening ]; do sleep 0.1; done", container)

    async def open_gate(self, name: str, container: str | None = None) -> None:
        """Lets a program go on that waits at its `GATE`. If it ends then, who has opened may be killed with it."""
        code, said = await self.try_sh(name, "touch /tmp/open", container)
        assert code in (0, KILLED), f"the gate of {name} cannot be opened: {code}, {said}"

    async def try_sh(self, name: str, script: str, container: str | None = None) -> tuple[int, str]:
        """Its exit code and what it prints to standard output."""
        words = ["/bin/sh", "-c", script]
        said = b""
        async with (
            asyncio.timeout(LIMIT_S),
            self.client.exec(name, self.namespace, words, container=container) as process,
        ):
            async for channel, data in process.output():
                said += data if channel is Channel.STDOUT else b""
            return await process.exit_code(), said.decode()

    async def eventually(
        self,
        name: str,
        script: str,
        is_it: Callable[[str], bool],
        limit_s: float = LIMIT_S,
        *,
        container: str | None = None,
    ) -> str:
        """Runs a script in a pod until it prints what is wanted: names, addresses and files that come
        from objects change a moment after those.
        """
        said = ""

        async def prints_it() -> bool:
            nonlocal said
            said = (await self.try_sh(name, script, container))[1]
            return is_it(said)

        try:
            await waiting.until(prints_it, limit_s=limit_s, what=script, every_s=0.4)
        except errors.Broken as late:
            raise AssertionError(f"in {name}, {late}; it printed {said!r} to the last") from None
        return said

    async def delete(
        self, name: str, *, grace_s: int | None = None, kind: str = "Pod"
    ) -> Object | None:
        """The object as it leaves; None where it is gone at once."""
        return await self.client.delete(
            RESOURCES[kind], name, self.namespace, grace_period_s=grace_s
        )

    async def last_words(self, name: str) -> tuple[str, Object]:
        """Deletes a pod that has said something; what it says until it is gone, and how it was last."""
        async with aclosing(self.client.log(name, self.namespace, follow=True)) as pieces:
            async with asyncio.timeout(LIMIT_S):
                said = await anext(pieces)  # so it is followed
            async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
                gone = tasks.create_task(self._delete_and_wait(name))
                async for piece in pieces:
                    said += piece
        if self.home.name == KUBERNETES:
            said = _MISSED.sub(b"", said)
        return said.decode(), gone.result()

    async def _delete_and_wait(self, name: str) -> Object:
        await self.delete(name)
        return await self.until_gone(name)

    async def is_there(self, name: str, kind: str = "Pod") -> bool:
        try:
            await self.client.get(RESOURCES[kind], name, self.namespace)
        except NotFound:
            return False
        return True

    def kubectl_lines(
        self, *words: str, errors_too: bool = False
    ) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """What the stock program prints, line by line, while it runs."""
        joined = ("/bin/sh", "-c", 'exec "$@" 2>&1', "--") if errors_too else ()
        return commands.stream(
            *(*joined, self.home.kubectl, "--namespace", self.namespace, *words),
            env=self._environment,
            timeout_s=LIMIT_S,
        )

    async def until_shown(self, name: str, columns: Sequence[str]) -> None:
        """Until `kubectl get pod` shows these columns after the name."""
        shown: Sequence[str] = ()

        async def is_shown() -> bool:
            nonlocal shown
            line = (await self.kubectl("get", "pod", name, "--no-headers")).stdout
            shown = line.split()[1 : 1 + len(columns)]
            return shown == columns

        try:
            await waiting.until(is_shown, limit_s=LIMIT_S, what=f"{columns}", every_s=0.5)
        except errors.Broken as late:
            raise AssertionError(f"{name}: {late}, but {shown}") from None

    async def kubectl(self, *words: str, stdin: str = "", check: bool = True) -> processes.Outcome:
        """The stock program, in this namespace."""
        outcome = await processes.run(
            *(self.home.kubectl, "--namespace", self.namespace, *words),
            stdin=stdin,
            limit_s=LIMIT_S,
            check=False,
            env=self._environment,
        )
        assert not check or outcome.code == 0, outcome.stderr
        return outcome

    @property
    def _environment(self) -> dict[str, str]:
        """What kubectl remembers of a server goes with its home."""
        config = self.home.kubeconfig
        return processes.plain_environment(KUBECONFIG=config, HOME=str(Path(config).parent))


def _says(event: Object, reason: str, text: str) -> bool:
    return bool(event.get("reason") == reason and text in event.get("message", ""))


def unschedulable(pod: Object) -> str:
    """Why no node takes a pod; empty if one does, or nobody has tried."""
    found = condition(pod, "PodScheduled")
    return str(found.get("message", "")) if found.get("reason") == "Unschedulable" else ""
