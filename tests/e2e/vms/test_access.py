"""Who may do what: every user's every verb on every resource that the API says it has, tried for real in a home.

Whatever stands in no line here, nobody of them may, also what the API learns tomorrow. Nothing happens when somebody may: what
is asked for is a ghost, and all is a trial. Who may not is told so before anybody looks for it. That the roles are right in
all their parts, on Kubernetes too, is in tests/contract/test_installation.py.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.e2e.vms import companions
from tests.e2e.vms.objects import a_vmi
from tests.e2e.vms.place import LIMIT_S, Place

from kubevirt.api import scheme
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.access.config import Impersonation
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, Forbidden, Unauthorized

GROUP = "rbac.authorization.k8s.io"
ROLES = {"machinist": "kubevirt.io:edit", "viewer": "view", "nobody": ""}
"""One with rights on machines only, one who may look at everything, one with none."""
BOTH = ("machinist", "viewer")
WEB = {
    "get": "GET",
    "list": "GET",
    "watch": "GET",
    "update": "PUT",
    "create": "POST",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
}
TOKEN = b"eyJhbGciOi"
"""How tokens of service accounts begin."""
MERGE = "application/merge-patch+json"
CALLS = "subresources.kubevirt.io"
OF_COLLECTIONS = ("list", "watch", "create", "deletecollection")
LET_IN = (400, 404, 409, 410, 422)
"""What becomes of a ghost of whom nothing is told, where somebody may ask for it."""
AT_ONCE = 8

READ, EDIT = "get,list,watch", "get,list,watch,create,update,patch,delete"
MAY = f"""
    {EDIT}    kubevirt.io               virtualmachines                      machinist
    {EDIT}    kubevirt.io               virtualmachineinstances              machinist
    {EDIT}    kubevirt.io               virtualmachineinstancepresets        machinist
    {EDIT}    kubevirt.io               virtualmachineinstancereplicasets    machinist
    {EDIT}    snapshot.kubevirt.io      virtualmachinesnapshots              machinist
    {EDIT}    snapshot.kubevirt.io      virtualmachinesnapshotcontents       machinist
    {EDIT}    snapshot.kubevirt.io      virtualmachinerestores               machinist
    {EDIT}    backup.kubevirt.io        virtualmachinebackups                machinist
    {EDIT}    backup.kubevirt.io        virtualmachinebackuptrackers         machinist
    {EDIT}    export.kubevirt.io        virtualmachineexports                machinist
    {EDIT}    clone.kubevirt.io         virtualmachineclones                 machinist
    {EDIT}    instancetype.kubevirt.io  virtualmachineinstancetypes          machinist
    {EDIT}    instancetype.kubevirt.io  virtualmachinepreferences            machinist
    {EDIT}    pool.kubevirt.io          virtualmachinepools                  machinist
    {READ}    kubevirt.io               virtualmachines                      viewer
    {READ}    kubevirt.io               virtualmachineinstances              viewer
    {READ}    kubevirt.io               virtualmachineinstancepresets        viewer
    {READ}    kubevirt.io               virtualmachineinstancereplicasets    viewer
    {READ}    snapshot.kubevirt.io      virtualmachinesnapshots              viewer
    {READ}    snapshot.kubevirt.io      virtualmachinesnapshotcontents       viewer
    {READ}    snapshot.kubevirt.io      virtualmachinerestores               viewer
    {READ}    backup.kubevirt.io        virtualmachinebackups                viewer
    {READ}    backup.kubevirt.io        virtualmachinebackuptrackers         viewer
    {READ}    export.kubevirt.io        virtualmachineexports                viewer
    {READ}    clone.kubevirt.io         virtualmachineclones                 viewer
    {READ}    instancetype.kubevirt.io  virtualmachineinstancetypes          viewer
    {READ}    instancetype.kubevirt.io  virtualmachinepreferences            viewer
    {READ}    pool.kubevirt.io          virtualmachinepools                  viewer
    {READ}    kubevirt.io               virtualmachineinstancemigrations     machinist viewer
    {READ}    instancetype.kubevirt.io  virtualmachineclusterinstancetypes   machinist viewer nobody
    {READ}    instancetype.kubevirt.io  virtualmachineclusterpreferences     machinist viewer nobody
    get,list  kubevirt.io               kubevirts                            machinist viewer nobody

    update    {CALLS}  virtualmachines/start                   machinist
    update    {CALLS}  virtualmachines/stop                    machinist
    update    {CALLS}  virtualmachines/restart                 machinist
    get       {CALLS}  virtualmachines/expand-spec             machinist viewer
    get       {CALLS}  virtualmachines/portforward             machinist
    update    {CALLS}  expand-vm-spec                          machinist viewer
    get       {CALLS}  virtualmachineinstances/console         machinist
    get       {CALLS}  virtualmachineinstances/vnc             machinist
    get       {CALLS}  virtualmachineinstances/portforward     machinist
    update    {CALLS}  virtualmachineinstances/pause           machinist
    update    {CALLS}  virtualmachineinstances/unpause         machinist
    update    {CALLS}  virtualmachineinstances/reset           machinist
    update    {CALLS}  virtualmachineinstances/softreboot      machinist
    get       {CALLS}  virtualmachineinstances/guestosinfo     machinist viewer
    get       {CALLS}  virtualmachineinstances/userlist        machinist viewer
    get       {CALLS}  virtualmachineinstances/filesystemlist  machinist viewer

    {READ}    -                         configmaps                           viewer
    {READ}    -                         endpoints                            viewer
    {READ}    -                         events                               viewer
    {READ}    -                         persistentvolumeclaims               viewer
    get       -                         persistentvolumeclaims/status        viewer
    {READ}    -                         pods                                 viewer
    get       -                         pods/log                             viewer
    get       -                         pods/status                          viewer
    {READ}    -                         serviceaccounts                      viewer
    {READ}    -                         services                             viewer
    get       -                         services/status                      viewer
    {READ}    apps                      controllerrevisions                  viewer
    {READ}    discovery.k8s.io          endpointslices                       viewer
    {READ}    policy                    poddisruptionbudgets                 viewer
    get       policy                    poddisruptionbudgets/status          viewer
    create    authentication.k8s.io     selfsubjectreviews                   machinist viewer nobody
    create    authorization.k8s.io      selfsubjectaccessreviews             machinist viewer nobody
    create    authorization.k8s.io      selfsubjectrulesreviews              machinist viewer nobody
"""
"""Verbs, group (- is Kubernetes' first one), resource, and who of all may, in their own namespace."""


@dataclass(frozen=True)
class Served:
    """What the API says of a resource."""

    root: str
    group: str
    name: str
    is_namespaced: bool
    verbs: tuple[str, ...]


@dataclass(frozen=True)
class Try:
    user: str
    verb: str
    what: Served

    @property
    def words(self) -> tuple[str, str, str, str]:
        return self.verb, self.what.group or "-", self.what.name, self.user

    def path(self, namespace: str) -> str:
        kind, _, call = self.what.name.partition("/")
        place = ["namespaces", namespace] if self.what.is_namespaced else []
        name = [] if self.is_of_collection else ["ghost"]
        port = ["22"] if (self.what.group, call) == (CALLS, "portforward") else []
        return "/".join([self.what.root, *place, kind, *name, *([call] if call else []), *port])

    @property
    def is_of_collection(self) -> bool:
        is_call = "/" in self.what.name
        return (self.verb in OF_COLLECTIONS and not is_call) or self.what.name == "expand-vm-spec"

    @property
    def params(self) -> dict[str, str]:
        if self.verb == "watch":  # by a field that nothing has, so that nobody has to wait
            return {"watch": "true", "fieldSelector": "no.such=field", "timeoutSeconds": "1"}
        return {} if self.verb in {"get", "list"} else {"dryRun": "All"}


def allowed() -> set[tuple[str, str, str, str]]:
    """Verb, group, resource and user."""
    lines = [line.split() for line in MAY.splitlines() if line.strip()]
    return {
        (verb, group, name, user)
        for verbs, group, name, *users in lines
        for verb in verbs.split(",")
        for user in users
    }


async def served(client: Client) -> list[Served]:
    """All of them, each in the version that its group prefers."""
    groups = json.loads(await client.raw("GET", "/apis"))["groups"]
    roots = {"": "/api/v1"}
    roots |= {one["name"]: f"/apis/{one['preferredVersion']['groupVersion']}" for one in groups}
    return [
        Served(root, group, one["name"], one["namespaced"], tuple(one["verbs"]))
        for group, root in roots.items()
        for one in json.loads(await client.raw("GET", root))["resources"]
    ]


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
            {} if one.verb in {"create", "update", "patch"} else None,
            params=one.params,
            content_type=MERGE if one.verb == "patch" else "application/json",
        )
    except (Forbidden, Unauthorized):
        return False
    except ApiError as error:
        if error.code not in LET_IN:
            raise
    return True


async def test_every_user_does_what_their_role_says_and_nothing_else(
    place: Place, users: dict[str, Client]
) -> None:
    await _until_known(place, users)
    expected, room = allowed(), asyncio.Semaphore(AT_ONCE)
    tried, wrong = set[tuple[str, str, str, str]](), dict[tuple[str, str, str, str], str]()

    async def look(one: Try) -> None:
        tried.add(one.words)
        try:
            async with room:
                found = await _may(users[one.user], one, place.namespace)
        except ApiError as error:
            wrong[one.words] = str(error)
        else:
            if found != (one.words in expected):
                wrong[one.words] = "may" if found else "may not"

    async with asyncio.TaskGroup() as tasks:
        for what in await served(place.client):
            for verb in what.verbs:
                for user in ROLES:
                    tasks.create_task(look(Try(user, verb, what)))
    assert not wrong, "\n".join(f"{' '.join(one)}: {wrong[one]}" for one in sorted(wrong))
    assert not expected - tried, "all that is expected is there"


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
    assert not await _undisturbed(lambda: list(_tokens(place, uid)))


async def _undisturbed(look: Callable[[], list[str]]) -> list[str]:
    """What a look finds that sees everything: volumes are written anew at any time, and a folder may be gone when it
    is to be opened.
    """
    async with asyncio.timeout(LIMIT_S):
        while True:
            try:
                return look()
            except (FileNotFoundError, ProcessLookupError):
                await asyncio.sleep(0.1)


def _tokens(place: Place, uid: str) -> Iterator[str]:
    """Where one is, in the pod's folders or the environments of its processes."""
    folders = (place.home.path / "nodes").glob(f"**/pods/{uid}")
    files = [each for folder in folders for each in folder.rglob("*") if each.is_file()]
    assert files, "it has volumes"
    files += [Path(f"/proc/{pid}/environ") for pid in companions.of_guest(uid).values()]
    yield from (str(each) for each in files if TOKEN in each.read_bytes())
