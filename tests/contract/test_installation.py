"""An installation on a server: applied whole, once, and giving everybody the rights they should have.

It has a server of its own: its webhooks would refuse the machines of other tests, since nobody answers them here.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any

import pytest
from tests.contract.access import reviewed
from tests.contract.conftest import Mortal, config_of
from tests.contract.mortal import MortalCluster, MortalEmbedded

from clusterup.certificates import Authority
from clusterup.pytest_plugin import session_loop
from kubevirt.api import crds, scheme
from kubevirt.base.clock import SystemClock
from kubevirt.components.ground.installing import MANAGER, install
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError, InternalError
from kubevirt.kube.patches import MergePatch
from kubevirt.virt.install import digest
from kubevirt.virt.install.objects import objects
from kubevirt.virt.install.options import Options, configuration

pytestmark = pytest.mark.timeout(300)  # hundreds of questions, on a machine that others use, too

Object = dict[str, Any]
LIMIT_S = 60.0
AUTHORITY = Authority.create("kubevirt.io").pair.certificate
OPTIONS = Options(authority=AUTHORITY)
RESOURCES = {
    (each.api_version, each.kind): each
    for each in vars(scheme).values()
    if hasattr(each, "api_version") and hasattr(each, "path")
}


@pytest.fixture(scope="module")
def own_server(server_name: str, request: pytest.FixtureRequest) -> Iterator[Mortal]:
    if server_name == "kubernetes":
        request.getfixturevalue("light_programs")
    server = MortalEmbedded() if server_name == "embedded" else MortalCluster()
    with session_loop() as loop:
        loop.run(server.start())
        try:
            loop.run(_install_first(server))
            yield server
        finally:
            loop.run(server.stop())


async def _install_first(server: Mortal) -> None:
    async with Client(config_of(server.kubeconfig)) as client:
        assert (await install(client, OPTIONS, SystemClock())).is_new
        await _bind_people(client)


@pytest.fixture
async def installed(own_server: Mortal) -> AsyncIterator[Client]:
    async with Client(config_of(own_server.kubeconfig)) as client:
        yield client


# Applying


async def _versions(client: Client) -> dict[tuple[str, str], Any]:
    """What a write would change. Others write the status of an APIService as often as they like."""
    found: dict[tuple[str, str], Any] = {}
    for each in objects(OPTIONS, crds.load()):
        resource = RESOURCES[each["apiVersion"], each["kind"]].raw
        name, namespace = each["metadata"]["name"], each["metadata"].get("namespace")
        metadata = (await client.get(resource, name, namespace))["metadata"]
        ours = [entry for entry in metadata["managedFields"] if entry["manager"] == MANAGER]
        is_others = each["kind"] == "APIService"
        found[each["kind"], name] = ours if is_others else metadata["resourceVersion"]
    return found


async def test_all_of_it_is_there_and_applied_again_changes_nothing(installed: Client) -> None:
    await install(installed, OPTIONS, SystemClock())
    before = await _versions(installed)
    await installed.delete(scheme.CONFIG_MAPS, digest.NAME, "kubevirt")
    assert (await install(installed, OPTIONS, SystemClock())).is_new
    assert await _versions(installed) == before


async def test_who_comes_with_the_same_word_asks_twice_and_writes_nothing(
    installed: Client, own_server: Mortal
) -> None:
    await install(installed, OPTIONS, SystemClock())
    async with Client(config_of(own_server.kubeconfig)) as another:
        assert not (await install(another, OPTIONS, SystemClock())).is_new
        assert sum(another.traffic.requests.values()) == 2


async def test_what_a_user_wants_of_the_kubevirt_object_stays(installed: Client) -> None:
    kubevirts = scheme.KUBEVIRTS.raw
    wish = {"spec": {"configuration": {"developerConfiguration": {"featureGates": ["HostDisk"]}}}}
    await installed.patch(kubevirts, "kubevirt", MergePatch(wish), "kubevirt", field_manager="ann")
    gates = configuration(is_emulated=True, has_image_volumes=True)
    other = Options(authority=AUTHORITY, configuration=gates)
    assert (await install(installed, other, SystemClock())).is_new
    found = await installed.get(kubevirts, "kubevirt", "kubevirt")
    developer = found["spec"]["configuration"]["developerConfiguration"]
    assert developer["featureGates"] == ["HostDisk"]


async def test_a_kubevirt_object_that_was_deleted_comes_again(installed: Client) -> None:
    chosen = configuration(is_emulated=True)
    options = Options(authority=AUTHORITY, configuration=chosen)
    await install(installed, options, SystemClock())
    await installed.delete(scheme.KUBEVIRTS, "kubevirt", "kubevirt")
    assert (await install(installed, options, SystemClock())).is_new
    found = await installed.get(scheme.KUBEVIRTS, "kubevirt", "kubevirt")
    assert found.spec.configuration == chosen


async def test_nothing_is_accepted_that_nobody_has_judged(installed: Client) -> None:
    machine = {
        "metadata": {"name": "unjudged", "namespace": "default"},
        "spec": {"runStrategy": "Halted", "template": {"spec": {"domain": {"devices": {}}}}},
    }
    with pytest.raises(ApiError) as refused:
        await installed.create(scheme.VIRTUAL_MACHINES.raw, machine)
    assert isinstance(refused.value, InternalError)
    assert "virtualmachines-mutator.kubevirt.io" in str(refused.value)


# Rights

ROOM = "room"
PEOPLE = {"ann": "admin", "eddy": "edit", "vera": "view", "mia": "kubevirt.io:migrate"}
STRANGER = "stranger"

VM, VMI = "virtualmachines", "virtualmachineinstances"
KUBEVIRT, SUB = "kubevirt.io", "subresources.kubevirt.io"

MATRIX = """
    get,list,watch        kubevirt.io  virtualmachines                               ann eddy vera
    create,update,patch   kubevirt.io  virtualmachines                               ann eddy
    delete                kubevirt.io  virtualmachines                               ann eddy
    deletecollection      kubevirt.io  virtualmachines                               ann
    get,list,watch        kubevirt.io  virtualmachineinstances                       ann eddy vera
    create,patch,delete   kubevirt.io  virtualmachineinstances                       ann eddy
    deletecollection      kubevirt.io  virtualmachineinstances                       ann
    create                kubevirt.io  virtualmachineinstancereplicasets             ann eddy
    patch                 kubevirt.io  virtualmachines/status
    update                kubevirt.io  virtualmachines/finalizers
    get,list              kubevirt.io  virtualmachineinstancemigrations              ann eddy vera mia
    create,delete         kubevirt.io  virtualmachineinstancemigrations              mia
    get,list              kubevirt.io  kubevirts                                     *
    create,patch,delete   kubevirt.io  kubevirts
    create                snapshot.kubevirt.io      virtualmachinesnapshots          ann eddy
    get                   snapshot.kubevirt.io      virtualmachinerestores           ann eddy vera
    create                export.kubevirt.io        virtualmachineexports            ann eddy
    create                clone.kubevirt.io         virtualmachineclones             ann eddy
    create                pool.kubevirt.io          virtualmachinepools              ann eddy
    create                backup.kubevirt.io        virtualmachinebackups            ann eddy
    create                instancetype.kubevirt.io  virtualmachineinstancetypes      ann eddy
    get,list              instancetype.kubevirt.io  virtualmachineclusterinstancetypes  *
    create                plugin.kubevirt.io        plugins                          ann
    get                   migrations.kubevirt.io    migrationpolicies                ann eddy vera
    create                migrations.kubevirt.io    migrationpolicies

    get     subresources.kubevirt.io  virtualmachineinstances/console                ann eddy
    get     subresources.kubevirt.io  virtualmachineinstances/vnc                    ann eddy
    get     subresources.kubevirt.io  virtualmachineinstances/vnc/screenshot         ann
    get     subresources.kubevirt.io  virtualmachineinstances/portforward            ann eddy
    get     subresources.kubevirt.io  virtualmachines/portforward                    ann eddy
    get     subresources.kubevirt.io  virtualmachineinstances/guestosinfo            ann eddy vera
    get     subresources.kubevirt.io  virtualmachineinstances/userlist               ann eddy vera
    get     subresources.kubevirt.io  virtualmachineinstances/filesystemlist         ann eddy vera
    get     subresources.kubevirt.io  virtualmachines/expand-spec                    ann eddy vera
    update  subresources.kubevirt.io  virtualmachines/start                          ann eddy
    update  subresources.kubevirt.io  virtualmachines/stop                           ann eddy
    update  subresources.kubevirt.io  virtualmachines/restart                        ann eddy
    update  subresources.kubevirt.io  virtualmachines/migrate                        mia
    update  subresources.kubevirt.io  virtualmachineinstances/pause                  ann eddy
    update  subresources.kubevirt.io  virtualmachineinstances/unpause                ann eddy
    update  subresources.kubevirt.io  virtualmachineinstances/reset                  ann eddy
    update  subresources.kubevirt.io  virtualmachineinstances/softreboot             ann eddy
    update  subresources.kubevirt.io  virtualmachineinstances/freeze                 ann eddy
    update  subresources.kubevirt.io  expand-vm-spec                                 ann eddy vera
    get     subresources.kubevirt.io  version                                        *
    update  subresources.kubevirt.io  virtualmachineinstances/console
    get     subresources.kubevirt.io  virtualmachines/start
"""
"""Verbs, group, resource, and who of all may: in their own room. `*` is whoever has a name."""


async def _bind_people(client: Client) -> None:
    await client.create(scheme.NAMESPACES.raw, {"metadata": {"name": ROOM}})
    group = "rbac.authorization.k8s.io"
    for person, role in PEOPLE.items():
        binding = {
            "metadata": {"name": person},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": group, "kind": "User", "name": person}],
        }
        await client.create(scheme.ROLE_BINDINGS.raw, binding, ROOM)


async def _may(
    client: Client, user: str, verb: str, group: str, resource: str, namespace: str = ROOM
) -> bool:
    plural, _, sub = resource.partition("/")
    asked = {"verb": verb, "group": group, "resource": plural, "namespace": namespace, "name": "x"}
    attributes = asked | ({"subresource": sub} if sub else {})
    groups = ["system:authenticated"]
    if user.startswith("system:serviceaccount:"):
        home = user.split(":")[2]
        groups += ["system:serviceaccounts", f"system:serviceaccounts:{home}"]
    if user == "system:anonymous":
        groups = ["system:unauthenticated"]
    spec = {"user": user, "groups": groups, "resourceAttributes": attributes}
    status = await reviewed(client, "SubjectAccessReview", spec)
    return bool(status.get("allowed"))


async def _wait_for_aggregation(client: Client) -> None:
    """Kubernetes' roles are made of ours a moment later."""
    async with asyncio.timeout(LIMIT_S):
        for person in ("ann", "eddy", "vera"):
            while not await _may(client, person, "get", KUBEVIRT, VM):  # noqa: ASYNC110  # RBAC's cache
                await asyncio.sleep(0.05)


Question = tuple[str, str, str, str]
"""Who, verb, group, resource."""


async def _answers(client: Client, questions: Iterable[Question]) -> dict[Question, bool]:
    """A few at a time: a server holds back whoever asks too much at once."""
    turn = asyncio.Semaphore(8)

    async def answer(question: Question) -> bool:
        async with turn:
            return await _may(client, *question)

    async with asyncio.TaskGroup() as tasks:
        asked = {each: tasks.create_task(answer(each)) for each in questions}
    return {each: task.result() for each, task in asked.items()}


def _expected(matrix: str, users: Sequence[str], named: Sequence[str]) -> dict[Question, bool]:
    found: dict[Question, bool] = {}
    for line in filter(None, map(str.split, matrix.splitlines())):
        verbs, group, resource, *allowed = line
        for verb in verbs.split(","):
            for user in users:
                question = (user, verb, "" if group == "core" else group, resource)
                found[question] = user in allowed or ("*" in allowed and user in named)
    return found


async def test_every_user_may_do_what_their_role_says_and_nothing_else(installed: Client) -> None:
    await _wait_for_aggregation(installed)
    named = [*PEOPLE, STRANGER]
    expected = _expected(MATRIX, [*named, "system:anonymous"], named)
    assert await _answers(installed, expected) == expected


async def test_a_role_in_one_room_opens_no_other(installed: Client) -> None:
    await _wait_for_aggregation(installed)
    for user in PEOPLE:
        for verb, group, resource in (
            ("get", KUBEVIRT, VM),
            ("create", KUBEVIRT, VMI),
            ("get", SUB, f"{VMI}/console"),
            ("update", SUB, f"{VM}/start"),
        ):
            assert not await _may(installed, user, verb, group, resource, "default")


OUR_MATRIX = """
    create               authorization.k8s.io  subjectaccessreviews        apiserver
    get                  kubevirt.io  virtualmachines                      apiserver controller
    patch                kubevirt.io  virtualmachines                      apiserver controller
    patch                kubevirt.io  virtualmachines/status               apiserver controller
    create,delete        kubevirt.io  virtualmachines
    create,delete        kubevirt.io  virtualmachineinstances              controller
    list,watch           kubevirt.io  virtualmachineinstances              controller handler
    patch                kubevirt.io  virtualmachineinstances              apiserver controller handler
    list                 core         pods                                 apiserver controller
    create,delete        core         pods                                 controller
    patch                core         pods
    patch                core         pods/status                          controller
    create               core         pods/exec
    get,list,watch       core         secrets
    get                  core         configmaps
    create               core         serviceaccounts/token
    get                  core         nodes                                apiserver
    patch                core         nodes                                controller handler
    list,watch           core         nodes                                controller
    create,delete        core         nodes
    create               core         events                               controller handler
    get                  core         persistentvolumeclaims               controller
    create,patch         core         persistentvolumeclaims
    create               apps         controllerrevisions                  controller
    patch,delete         kubevirt.io  kubevirts
    create               rbac.authorization.k8s.io  rolebindings
    get                  coordination.k8s.io  leases
"""
"""In a room of users. `core` is the group without a name."""


async def test_our_own_programs_may_do_their_work_and_nothing_else(installed: Client) -> None:
    accounts = ("apiserver", "controller", "handler")
    prefix = "system:serviceaccount:kubevirt:kubevirt-"
    expected: dict[Question, bool] = {
        (prefix + account, verb, group, resource): is_allowed
        for (account, verb, group, resource), is_allowed in _expected(
            OUR_MATRIX, accounts, ()
        ).items()
    }
    assert await _answers(installed, expected) == expected


async def test_a_launcher_may_nothing(installed: Client) -> None:
    """Its pod has no token. Had it the one of its room, that would open nothing."""
    user = f"system:serviceaccount:{ROOM}:default"
    for verb, group, resource in (
        ("get", KUBEVIRT, VMI),
        ("patch", KUBEVIRT, VMI),
        ("get", "", "secrets"),
        ("get", "", "pods"),
        ("update", SUB, f"{VMI}/pause"),
    ):
        assert not await _may(installed, user, verb, group, resource)
