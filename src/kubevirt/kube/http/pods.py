"""Calls that only pods know: evict, bind, run a program in one, read its log."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from kubevirt.api.resource import Resource
from kubevirt.kube.http import containers, failures
from kubevirt.kube.http.calls import Calls, Parameter, delete_options, request_for_one
from kubevirt.kube.http.encoding import body_of

# Only their place on the server matters here; `api.scheme` has the type.
_PODS: Resource[dict[str, Any]] = Resource("", "v1", "pods", "Pod", True, dict[str, Any])


class PodCalls(Calls):
    async def evict(
        self,
        pod: str,
        namespace: str,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_period_s: int | None = None,
        dry_run: bool = False,
    ) -> None:
        """Deletes a pod if its disruption budget allows it, else `TooManyRequests`."""
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod, "namespace": namespace},
            "deleteOptions": delete_options(
                uid=uid,
                resource_version=resource_version,
                grace_period_s=grace_period_s,
                dry_run=dry_run,
            ),
        }
        # Here, 429 is an answer: the budget may not allow it for hours.
        await self._post(pod, namespace, "eviction", eviction, dry_run=dry_run, may_wait=False)

    async def bind(
        self, pod: str, namespace: str, node: str, *, uid: str | None = None, dry_run: bool = False
    ) -> None:
        """Gives a pod to a node; `Conflict` when it has one, or is not the one with this `uid`."""
        metadata = {"name": pod, "namespace": namespace, **({"uid": uid} if uid else {})}
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": metadata,
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        await self._post(pod, namespace, "binding", binding, dry_run=dry_run)

    @asynccontextmanager
    async def exec(
        self,
        pod: str,
        namespace: str,
        command: Sequence[str],
        *,
        container: str | None = None,
        stdin: bool = False,
        tty: bool = False,
    ) -> AsyncIterator[containers.Process]:
        """Runs a program in a container; see `containers`. With a terminal, all output is stdout."""
        options: dict[str, Parameter] = {
            "container": container,
            "stdin": stdin,
            "stdout": True,
            "stderr": not tty,
            "tty": tty,
        }
        request = request_for_one("GET", _PODS, pod, namespace, "exec", params=options)
        words = tuple(("command", word) for word in command)
        request = replace(request, params=(*request.params, *words), accept="*/*")
        async with self._transport.websocket(request, containers.PROTOCOLS) as connection:
            yield containers.Process(connection, f'pod "{pod}" in namespace {namespace}')

    async def log(
        self,
        pod: str,
        namespace: str,
        *,
        container: str | None = None,
        follow: bool = False,
        previous: bool = False,
        tail_lines: int | None = None,
        since_s: int | None = None,
        timestamps: bool = False,
        limit_bytes: int | None = None,
    ) -> AsyncGenerator[bytes, None]:
        """The log in pieces as they come. With `follow` it goes on until the container ends."""
        options: dict[str, Parameter] = {
            "container": container,
            "follow": follow or None,
            "previous": previous or None,
            "tailLines": tail_lines,
            "sinceSeconds": since_s,
            "timestamps": timestamps or None,
            "limitBytes": limit_bytes,
        }
        request = request_for_one("GET", _PODS, pod, namespace, "log", params=options, accept="*/*")
        # A container may be silent for as long as it likes, but what is written must come.
        limit_s = None if follow else self._transport.limits.call_s
        async with self._transport.stream(request, self._on_warning) as read_some:
            while True:
                try:
                    async with self._transport.clock.timeout(limit_s):
                        piece = await read_some()
                except TimeoutError:
                    raise failures.silent(self._transport.config.server, f"log of {pod}") from None
                if not piece:
                    return
                yield piece

    async def _post(
        self,
        pod: str,
        namespace: str,
        subresource: str,
        body: Any,
        *,
        dry_run: bool,
        may_wait: bool = True,
    ) -> None:
        request = request_for_one(
            "POST",
            _PODS,
            pod,
            namespace,
            subresource,
            params={"dryRun": "All" if dry_run else None},
            body=body_of(body),
            may_wait=may_wait,
        )
        await self._call(request)
