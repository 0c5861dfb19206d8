"""Who may do what with machines: every user's every verb on every kind, tried for real in a home.

Nothing happens when somebody may: what is asked for is a ghost, and what is created is a trial. Who may not is told so before
anybody looks for it. That the roles are right in all their parts, on Kubernetes too, is in tests/contract/test_installation.py.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.vms import companions
from tests.e2e.vms.objects import a_vm, a_vmi
from tests.e2e.vms.place import LIMIT_S, Place

from kubevirt.api import scheme
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.access.config import Impersonation
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, BadRequest, Forbidden, NotFound, Unauthorized

GROUP = "rbac.authorization.k8s.io"
ROLES = {"machinist": "kubevirt.io:edit", "viewer": "view", "nobody": ""}
"""One with rights on machines only, one who may look at everything, one with none."""
BOTH = ("machinist", "viewer")
WEB = {
    "get": "GET",
    "list": "GET",
    "update": "PUT",
    "create": "POST",
    "patch": "PATCH",
    "delete": "DELETE",
}
TOKEN = b"eyJhbGciOi"
"""How tokens of service accounts begin."""
MERGE = "application/merge-patch+json"
CORE, KUBEVIRT = "/api/v1", "/apis/kubevirt.io/v1"
CALLS = "/apis/subresources.kubevirt.io/v1"

MATRIX = f"""
    get,list             {KUBEVIRT}  virtualmachines                         machinist viewer
    create,patch,delete  {KUBEVIRT}  virtualmachines                         machinist
    get,list             {KUBEVIRT}  virtualmachineinstances                 machinist viewer
    create,patch,delete  {KUBEVIRT}  virtualmachineinstances                 machinist
    get,list             {KUBEVIRT}  virtualmachineinstancemigrations        machinist viewer
    patch,delete         {KUBEVIRT}  virtualmachineinstancemigrations
    list                 {KUBEVIRT}  kubevirts                               machinist viewer nobody
    patch,delete         {KUBEVIRT}  kubevirts
    get,list             {CORE}      pods                                    viewer
    create,patch,delete  {CORE}      pods
    get,list,delete      {CORE}      secrets
    get,list             {CORE}      configmaps                              viewer
    delete               {CORE}      configmaps
    get,list             {CORE}      persistentvolumeclaims                  viewer
    delete               {CORE}      persistentvolumeclaims
    update               {CALLS}     virtualmachines/start                   machinist
    update               {CALLS}     virtualmachines/stop                    machinist
    update               {CALLS}     virtualmachines/restart                 machinist
    get                  {CALLS}     virtualmachines/expand-spec             machinist viewer
    get                  {CALLS}     virtualmachines/portforward/22          machinist
    get                  {CALLS}     virtualmachineinstances/console         machinist
    get                  {CALLS}     virtualmachineinstances/vnc             machinist
    get                  {CALLS}     virtualmachineinstances/vnc/screenshot
    get                  {CALLS}     virtualmachineinstances/portforward/22  machinist
    update               {CALLS}     virtualmachineinstances/pause           machinist
    update               {CALLS}     virtualmachineinstances/unpause         machinist
    update               {CALLS}     virtualmachineinstances/reset           machinist
    update               {CALLS}     virtualmachineinstances/softreboot      machinist
    get                  {CALLS}     virtualmachineinstances/guestosinfo     machinist viewer
    get                  {CALLS}     virtualmachineinstances/userlist        machinist viewer
    get                  {CALLS}     virtualmachineinstances/filesystemlist  machinist viewer
"""
"""Verbs, group, kind (and call), and who of all may, in their own namespace."""


@dataclass(frozen=True)
class Try:
    user: str
    verb: str
    group: str
    what: str

    def path(self, namespace: str) -> str:
        kind, _, call = self.what.partition("/")
        named = f"{kind}/ghost" if self.verb not in {"list", "create"} else kind
        words = [self.group, "namespaces", namespace, named, *([call] if call else [])]
        return "/".join(words)


def tries() -> Iterator[tuple[Try, bool]]:
    """Each of the matrix, with whether it is to succeed."""
    for line in MATRIX.strip().splitlines():
        verbs, group, what, *allowed = line.split()
        for verb in verbs.split(","):
            for user in ROLES:
                yield Try(user, verb, group, what), user in allowed


@pytest.fixture
async def users(place: Place) -> AsyncIterator[dict[str, Client]]:
    """Names that nobody else in the home has."""
    administrator = kubeconfig.load([place.home.kubeconfig], {})
    async with AsyncExitStack() as stack:
        found = {}
        for user, role in ROLES.items():
            name = f"{user}-{place.namespace}"
            if role:
                await _bind(place, name, role)
            config = replace(administrator, impersonate=Impersonation(user=name))
            found[user] = await stack.enter_async_context(Client(config))
        yield found


async def _bind(place: Place, name: str, role: str) -> None:
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": GROUP, "kind": "User", "name": name}],
    }
    await place.client.create(scheme.ROLE_BINDINGS.raw, binding, place.namespace)


async def _may(client: Client, one: Try, namespace: str) -> bool:
    try:
        await client.raw(
            WEB[one.verb],
            one.path(namespace),
            _body(one),
            params={"dryRun": "All"} if one.verb == "create" else None,
            content_type=MERGE if one.verb == "patch" else "application/json",
        )
    except (Forbidden, Unauthorized):
        return False
    except (BadRequest, NotFound):
        pass  # a ghost: they were let in
    return True


def _body(one: Try) -> dict[str, Any] | None:
    bodies = {
        "virtualmachines": a_vm("ghost"),
        "virtualmachineinstances": a_vmi("ghost"),
        "pods": {
            "metadata": {"name": "ghost"},
            "spec": {"containers": [{"name": "a", "image": "a"}]},
        },
    }
    if one.verb == "create":
        return bodies[one.what]
    return {} if one.verb in {"update", "patch"} else None


async def test_every_user_does_what_their_role_says_and_nothing_else(
    place: Place, users: dict[str, Client]
) -> None:
    await _until_known(place, users)
    wrong = {}
    for one, expected in tries():
        try:
            found = await _may(users[one.user], one, place.namespace)
        except ApiError as error:
            wrong[one] = str(error)
        else:
            if found != expected:
                wrong[one] = "may" if found else "may not"
    assert not wrong


async def test_a_role_in_one_namespace_opens_no_other(
    place: Place, users: dict[str, Client]
) -> None:
    await _until_known(place, users)
    for user in BOTH:
        with pytest.raises(Forbidden):
            await users[user].list(scheme.VIRTUAL_MACHINES.raw, "default")


async def _until_known(place: Place, users: dict[str, Client]) -> None:
    """The API server has heard of the roles."""
    async with asyncio.timeout(LIMIT_S):
        for user in BOTH:
            while True:
                try:
                    await users[user].list(scheme.VIRTUAL_MACHINES.raw, place.namespace)
                    break
                except Forbidden:
                    await asyncio.sleep(0.1)


async def test_a_launcher_holds_no_token(place: Place) -> None:
    """Neither in a file that its processes see, nor in their environments."""
    await place.create(a_vmi("quiet", startStrategy="Paused"))
    await place.until_phase("quiet", "Running")
    pod = await place.pod("quiet")
    name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
    assert pod["spec"]["automountServiceAccountToken"] is False
    assert "serviceAccountToken" not in json.dumps(pod["spec"]["volumes"])
    elsewhere = ["-path", "/proc", "-prune", "-o", "-path", "/sys", "-prune", "-o"]
    names = "( -name token -type f -o -name kubeconfig -o -path */kubernetes.io* )"
    seen = place.kubectl(*("exec", name, "--", "find", "/", *elsewhere, *names.split(), "-print"))
    assert "/" not in seen.out, seen.out
    assert not list(_tokens(place, uid))


def _tokens(place: Place, uid: str) -> Iterator[str]:
    """Where one is, in the pod's folders or the environments of its processes."""
    folders = (place.home.path / "nodes").glob(f"**/pods/{uid}")
    files = [each for folder in folders for each in folder.rglob("*") if each.is_file()]
    assert files, "it has volumes"
    files += [Path(f"/proc/{pid}/environ") for pid in companions.of_guest(uid).values()]
    yield from (str(each) for each in files if TOKEN in each.read_bytes())
