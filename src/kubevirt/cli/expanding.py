"""Machines as they would be without instance types and preferences; the server knows how."""

import json
from typing import Any, Final

import yaml

from kubevirt.base.errors import UserError
from kubevirt.cli import subresources
from kubevirt.cli.asking import Session
from kubevirt.cli.targets import Target, checked

LIMIT: Final = 4 << 20
"""Bytes of a manifest; no server stores a larger object."""


def read(data: bytes) -> dict[str, Any]:
    if len(data) > LIMIT:
        raise UserError("the manifest is larger than any object that a server stores")
    try:
        found = yaml.load(data, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        raise UserError(f"the manifest is not YAML: {error}") from None
    if not isinstance(found, dict) or found.get("kind") != "VirtualMachine":
        raise UserError("the manifest is not of one VirtualMachine")
    return found


async def of_server(target: Target, session: Session) -> Any:
    whom = target.in_namespace(session.namespace)
    return json.loads(await subresources.get(session, whom, "expand-spec"))


async def of_manifest(machine: dict[str, Any], session: Session) -> Any:
    own = str((machine.get("metadata") or {}).get("namespace") or session.namespace)
    namespace = checked(own, "namespace")
    path = f"namespaces/{namespace}/expand-vm-spec"
    return json.loads(await subresources.raw(session, "PUT", path, machine))
