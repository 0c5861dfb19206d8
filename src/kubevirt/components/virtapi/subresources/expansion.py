"""Machines with all they refer to: what an instance type or a preference would write into them.

There are none of these yet, so a machine that refers to one is refused, and any other is whole already.
"""

from typing import Any

import msgspec
from aiohttp import web

from kubevirt.api.machine import VirtualMachine
from kubevirt.components.virtapi import answers, bodies
from kubevirt.components.virtapi.parts import Parts
from kubevirt.components.virtapi.path import Asked
from kubevirt.components.virtapi.subresources import objects
from kubevirt.virt.commands.refusal import bad_request, not_built


class Expansion:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def of_stored(self, _: web.BaseRequest, asked: Asked) -> web.Response:
        return answers.json(_expanded(await objects.raw_machine(self._parts.client, asked)))

    async def of_given(self, request: web.BaseRequest, asked: Asked) -> web.Response:
        body = await bodies.read(request, bodies.MACHINE_LIMIT, self._parts.clock)
        if not body.strip():
            raise bad_request("empty request body")
        given = _machine(body)
        metadata = given.setdefault("metadata", {})
        if metadata.get("namespace") not in (None, "", asked.namespace):
            raise bad_request(f"VM namespace must be empty or {asked.namespace}")
        metadata["namespace"] = asked.namespace
        return answers.json(_expanded(given))


def _machine(body: bytes) -> dict[str, Any]:
    try:
        given: dict[str, Any] = msgspec.json.decode(body, type=dict[str, Any])
        vm = msgspec.convert(given, VirtualMachine)
    except (msgspec.DecodeError, RecursionError):
        raise bad_request("Object is not a valid VirtualMachine") from None
    if vm.kind not in (None, "", "VirtualMachine"):
        raise bad_request("Object is not a valid VirtualMachine")
    return given


def _expanded(raw: dict[str, Any]) -> dict[str, Any]:
    spec = raw.get("spec") or {}
    for field in ("instancetype", "preference"):
        if spec.get(field):
            raise not_built(f"instance types and preferences; remove spec.{field}")
    return raw
