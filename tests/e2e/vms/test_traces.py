"""That nothing is left of a guest, or of a home, is looked for after every test: here, who looks is shown to see."""

import subprocess
from collections.abc import Iterable

from tests.component.embedded.process.leftovers import left_of
from tests.e2e.vms import traces
from tests.e2e.vms.objects import a_vm
from tests.e2e.vms.place import LIMIT_S, Object, Place

from clusterup import waiting
from kubevirt.embedded.home import Home
from kubevirt.embedded.process import settings

OF_A_GUEST = {"process", "mount", "control group", "file", "link", "route", "rule"}
OF_A_HOME = {"process", "mount", "control group", "link", "table"}


def kinds(found: Iterable[str], known: set[str]) -> set[str]:
    return {kind for each in found for kind in known if each.startswith(f"{kind} ")}


def a_service(name: str) -> Object:
    """Of a machine that need not be ready: the address of its pod is in the rules at once."""
    selector = {"vm.kubevirt.io/name": name}
    spec = {"selector": selector, "ports": [{"port": 80}], "publishNotReadyAddresses": True}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


async def test_all_that_a_guest_and_its_home_have_on_the_machine_is_seen(place: Place) -> None:
    """Links and rules of a guest never were: they do not have its UID in them."""
    machine = a_vm("web", runStrategy="Always", guest={"startStrategy": "Paused"})
    await place.create(a_service("web"), machine)
    await place.until_status("web", "Paused")
    pod, vmi = await place.pod("web"), await place.vmi("web")
    uids = {pod["metadata"]["uid"], vmi["metadata"]["uid"]}

    async def is_seen() -> bool:
        return kinds(traces.of(place.home.path, uids), OF_A_GUEST) == OF_A_GUEST

    await waiting.until(is_seen, limit_s=LIMIT_S, what="all of it is seen")
    found = left_of(place.home.path, Home(place.home.path).id)
    assert kinds(found, OF_A_HOME) == OF_A_HOME


async def test_a_rule_for_an_address_that_nobody_has_is_seen(place: Place) -> None:
    home = Home(place.home.path)
    address = settings.network(home, home.choices).pod_range[-2]
    table = f"ip test-{place.namespace}"
    nft("add", "table", table)
    try:
        nft("add", "set", f"{table} left {{ type ipv4_addr; elements = {{ {address} }}; }}")
        assert f"rule with {address}" in traces.of_nobody(place.home.path)
    finally:
        nft("delete", "table", table)
    assert f"rule with {address}" not in traces.of_nobody(place.home.path)


def nft(*words: str) -> None:
    subprocess.run(["nft", " ".join(words)], check=True, timeout=LIMIT_S)
