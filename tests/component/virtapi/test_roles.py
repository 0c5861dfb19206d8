"""Every role held against every call, tried for real: who may what is what the roles say, no more and no less."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.component.virtapi.machines import Machines
from tests.component.virtapi.place import GROUP_PATH

from clusterup import waiting
from kubevirt.api.core.rbac import PolicyRule
from kubevirt.kube.client import Client
from kubevirt.kube.errors import BadRequest, Forbidden, NotFound, Unauthorized
from kubevirt.virt.commands.calls import BUILT, GROUP, PORT_FORWARD, Call
from kubevirt.virt.install import people
from kubevirt.virt.install.options import Options


def given(role: str) -> set[tuple[str, str]]:
    """Verbs and names."""
    found = next(
        each
        for each in people.objects(Options(authority=b""))
        if each.metadata.name == f"kubevirt.io:{role}"
    )
    return set(_pairs(getattr(found, "rules", ())))


def _pairs(rules: tuple[PolicyRule, ...]) -> Iterator[tuple[str, str]]:
    for rule in rules:
        if GROUP in rule.api_groups:
            for resource in rule.resources:
                yield from ((verb, resource) for verb in rule.verbs)


async def _user(machines: Machines, role: str) -> Path:
    if role == "nobody":
        return machines.place.server.kubeconfig_for("nobody")
    path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{machines.namespace}/rolebindings"
    name = f"{role}-{machines.namespace}"
    body = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": people.RBAC, "kind": "ClusterRole", "name": f"kubevirt.io:{role}"},
        "subjects": [{"apiGroup": people.RBAC, "kind": "User", "name": name}],
    }
    await machines.client.raw("POST", path, body)
    return machines.place.server.kubeconfig_for(name)


async def _may(user: Client, machines: Machines, call: Call) -> bool:
    """Whether they are let in; nothing of that name is there, so nothing happens."""
    below = f"{GROUP_PATH}/v1/namespaces/{machines.namespace}/{call.resource}"
    what = f"{call.subresource}/22" if call.subresource == PORT_FORWARD else call.subresource
    path = f"{below}/ghost/{what}" if call.subresource else below
    try:
        await user.raw(call.method, path, {} if call.method == "PUT" else None)
    except (Forbidden, Unauthorized):
        return False
    except (BadRequest, NotFound):
        return True
    raise AssertionError(f"{call.name} of a ghost was done")


@pytest.mark.parametrize("role", ["admin", "edit", "view", "nobody"])
async def test_a_role_gives_what_it_says(machines: Machines, role: str) -> None:
    wanted = given(role) if role != "nobody" else set()
    expected = {each.name for each in BUILT if (each.verb, each.name) in wanted}
    async with machines.place.client(await _user(machines, role)) as user:
        if expected:
            first = next(each for each in BUILT if each.name in expected)
            await waiting.until(
                lambda: _may(user, machines, first), limit_s=60, what=f"{role} has their rights"
            )
        found = {each.name for each in BUILT if await _may(user, machines, each)}
    assert found == expected
    assert ("virtualmachineinstances/vnc/screenshot" in found) == (role == "admin")
