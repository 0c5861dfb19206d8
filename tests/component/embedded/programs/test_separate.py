"""A home whose programs are processes of their own: one of two nodes, and one guest, on the node that has a network of its own."""

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.component.embedded.process.leftovers import left_of
from tests.component.embedded.programs.figures import until_told
from tests.e2e.vms.place import Place

from guestimage.image import Images
from kubevirt.api.scheme import KUBEVIRTS, NODES, PODS, SECRETS
from kubevirt.base.errors import Retry
from kubevirt.embedded.home import Home
from kubevirt.embedded.programs import sighted
from kubevirt.kube.access import kubeconfig
from kubevirt.kube.client import Client
from kubevirt.kube.errors import Forbidden
from kubevirt.testing.home import TrialHome, a_home

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.xdist_group("separate"),
    pytest.mark.skipif(os.geteuid() != 0, reason="an embedded home is root's: run as root"),
]

LIMIT_S = 240.0
LOOK_AGAIN_S = 0.1
ACCOUNTS = {
    "virt-api": "kubevirt-apiserver",
    "virt-controller": "kubevirt-controller",
    "virt-handler-node01": "kubevirt-handler",
    "virt-handler-node02": "kubevirt-handler",
}
EXAMPLE = Path(__file__).parents[4] / "examples/standalone/vm.yaml"


@pytest.fixture(scope="module")
def home(guest_images: Images) -> Iterator[TrialHome]:
    """Each test leaves it up and at work."""
    with a_home("--separate", "--nodes=2") as found:
        own = Home(found.path)
        home_id = own.id
        yield found
        assert found.virtctl("down").code == 0
        assert left_of(found.path, home_id) == []


@pytest.fixture
async def api(home: TrialHome) -> AsyncIterator[Client]:
    async with home.client() as client:
        await at_work(client, set())
        yield client


async def at_work(client: Client, killed: set[int]) -> set[int]:
    """When all programs are ready, none of them one of those: the numbers that the KubeVirt object names."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            try:
                found = await client.get(KUBEVIRTS.raw, "kubevirt", "kubevirt")
            except Retry:
                found = {}
            conditions = (found.get("status") or {}).get("conditions") or ()
            ready = [each for each in conditions if each["type"] == "Available"]
            if ready and ready[0]["status"] == "True":
                pids = set(map(int, re.findall(r"is process (\d+)", ready[0]["message"])))
                if len(pids) == len(ACCOUNTS) and not pids & killed:
                    return pids
            await asyncio.sleep(LOOK_AGAIN_S)


def processes(home: TrialHome) -> dict[str, int]:
    return {each.name: each.pid for each in sighted.look(Home(home.path))}


async def gone(home: TrialHome) -> None:
    async with asyncio.timeout(LIMIT_S):
        while processes(home):  # noqa: ASYNC110  # the kernel tells nobody but their parent
            await asyncio.sleep(LOOK_AGAIN_S)


@asynccontextmanager
async def as_program(home: TrialHome, name: str) -> AsyncIterator[Client]:
    file = home.path / "programs" / f"{name}.kubeconfig"
    assert file.stat().st_mode & 0o777 == 0o600
    async with Client(kubeconfig.load([file], {})) as client:
        yield client


async def who(client: Client) -> dict[str, Any]:
    kind = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    said = await client.raw("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", kind)
    found: dict[str, Any] = json.loads(said)["status"]["userInfo"]
    return found


async def test_each_is_a_process_with_a_number_that_a_user_sees(
    home: TrialHome, api: Client
) -> None:
    own = processes(home)
    assert set(own) == set(ACCOUNTS)
    assert len({*own.values(), Home(home.path).holder}) == len(ACCOUNTS) + 1
    assert await at_work(api, set()) == set(own.values())
    told = json.loads(home.virtctl("status", "-o", "json").out)
    assert {each["name"]: each["pid"] for each in told["programs"]} == own
    assert all(each["memoryBytes"] > 0 for each in told["programs"])
    networks = {name: network_of(pid) for name, pid in own.items()}
    assert networks["virt-handler-node01"] == networks["virt-api"] == network_of(os.getpid())
    assert networks["virt-handler-node02"] != networks["virt-api"]
    assert all((home.path / "programs" / f"{name}.log").stat().st_size for name in own)


async def test_each_tells_how_it_is_where_its_service_says(home: TrialHome, api: Client) -> None:
    for name in ACCOUNTS:
        program = "_".join(name.split("-")[:2])
        await until_told(api, Home(home.path), name, [f"kubevirt_{program}_ready_status 1.0"])


@pytest.mark.usefixtures("api")
async def test_each_has_the_name_and_the_rights_of_its_service_account(home: TrialHome) -> None:
    for name, account in ACCOUNTS.items():
        async with as_program(home, name) as client:
            found = await who(client)
            assert found["username"] == f"system:serviceaccount:kubevirt:{account}"
            assert "system:masters" not in found["groups"]
            with pytest.raises(Forbidden):
                await client.list(SECRETS, "kubevirt")
            if account == "kubevirt-handler":
                assert found["extra"]["authentication.kubernetes.io/node-name"] == [name[-6:]]
    async with as_program(home, "virt-api") as client:
        assert (await client.get(NODES, "node01")).metadata.name == "node01"
        with pytest.raises(Forbidden):
            await client.delete(PODS, "any", "default")


async def test_nothing_is_left_of_one_that_died_and_its_choice_is_kept(
    home: TrialHome, api: Client
) -> None:
    before, own = set(processes(home).values()), Home(home.path)
    kill(own.holder)
    await gone(home)
    assert home.virtctl("down").code == 0
    assert left_of(home.path, own.id) == []
    said = home.virtctl("up", "--no-merge-kubeconfig")
    assert said.code == 0, said.err
    await at_work(api, before)


async def test_a_home_that_goes_down_marks_its_nodes_as_without_virt_handlers(
    home: TrialHome, api: Client
) -> None:
    """The network went first, so that nobody heard of it, and going down took five seconds longer."""
    before = set(processes(home).values())
    assert home.virtctl("down").code == 0
    lines = Home(home.path).audit_log.read_text().splitlines()
    said = home.virtctl("up", "--no-merge-kubeconfig")
    assert said.code == 0, said.err
    await at_work(api, before)
    writes = [each for each in map(json.loads, lines) if _is_mark(each)]
    last = {each["objectRef"]["name"]: each for each in writes}
    assert set(last) == {"node01", "node02"}
    for each in last.values():
        assert each["responseStatus"]["code"] == 200
        labels = each["requestObject"]["metadata"]["labels"]
        assert labels["kubevirt.io/schedulable"] == "false"


def _is_mark(event: dict[str, Any]) -> bool:
    """Whoever asks for health or metrics asks for no object."""
    user: str = event["user"]["username"]
    about = event.get("objectRef", {})
    return about.get("resource") == "nodes" and user.endswith(":kubevirt-handler")


async def test_a_guest_outlives_every_program_and_the_home(home: TrialHome, api: Client) -> None:
    place = Place(api, home, "default")
    await place.create(an_example_on("node02"))
    assert place.virtctl("start", "testvm", "--wait").code == 0
    emulator, boot = emulators(home), boot_id(place, is_logged_in=False)
    assert len(emulator) == 1

    killed = set(processes(home).values())
    for pid in killed:
        kill(pid)
    await at_work(api, killed)
    assert (emulators(home), boot_id(place)) == (emulator, boot)

    killed |= set(processes(home).values())
    kill(Home(home.path).holder)
    await gone(home)
    assert emulators(home) == emulator
    home.up()
    async with home.client() as again:  # at another port, maybe
        place = Place(again, home, "default")
        await at_work(again, killed)
        assert (emulators(home), boot_id(place)) == (emulator, boot)
        # virt-controller leads again as well.
        await place.create({**an_example_on("node01"), "metadata": {"name": "another"}})
        await place.until_status("another", "Stopped")
        assert (await place.vmi("testvm"))["status"]["phase"] == "Running"
        await place.leave()


def an_example_on(node: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text())
    found["apiVersion"] = "kubevirt.io/v1"
    spec = found["spec"]["template"]["spec"]
    spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    spec["terminationGracePeriodSeconds"] = 0
    return found


def network_of(pid: int) -> Path:
    return Path(f"/proc/{pid}/ns/net").readlink()


def kill(pid: int | None) -> None:
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


def boot_id(place: Place, *, is_logged_in: bool = True) -> str:
    """Over virt-api and virt-handler. Whoever logged in once at a console stays so."""
    with place.console("testvm") as guest:
        if not is_logged_in:
            guest.log_in()
        else:
            guest.session.until("$ ")
        return guest.run("cat /proc/sys/kernel/random/boot_id")


def emulators(home: TrialHome) -> set[str]:
    """Of this home's guests: processes in the control groups of its pods."""
    home_id, found = Home(home.path).id, set[str]()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = home_id in (folder / "cgroup").read_text()
            if is_ours and (folder / "comm").read_text().startswith("qemu-system"):
                found.add(folder.name)
        except OSError:
            continue
    return found
