"""How a guest is found: by its own name, by a Service's, and only while it is ready; and what becomes of one that does not
answer.
"""

import asyncio
from typing import Any

from tests.e2e.vms.objects import a_disk, a_vm
from tests.e2e.vms.place import Place

USER_DATA = """\
#cloud-config
write_files:
  - path: /var/www/index.html
    content: "{name} says hello"
  - path: /run/ready
    content: "yes"
runcmd:
  - httpd -h /var/www
"""
FETCH = """\
import sys, time, urllib.error, urllib.request
def fetched(address):
    while True:
        try:
            return urllib.request.urlopen(address, timeout=60).read().decode()
        except urllib.error.URLError:
            time.sleep(0.2)
for address in sys.argv[1:]:
    print(fetched(address))
"""
"""Names and rules follow a Service a moment after it is made."""


def a_web_server(name: str) -> dict[str, Any]:
    """Ready for as long as its agent finds a file in it."""
    seed = {"cloudInitNoCloud": {"userData": USER_DATA.format(name=name)}}
    probe = {"exec": {"command": ["cat", "/run/ready"]}, "periodSeconds": 2, "timeoutSeconds": 20}
    guest = {"hostname": name, "subdomain": "inner", "readinessProbe": probe}
    volumes = [a_disk("seed", seed)]
    return a_vm("web", guest=guest, volumes=volumes, labels={"app": "web"}, runStrategy="Always")


def headless(name: str) -> dict[str, Any]:
    spec = {"clusterIP": "None", "selector": {"app": "web"}, "ports": [{"port": 80}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def is_ready(status: str) -> Any:
    def found(vmi: dict[str, Any]) -> bool:
        conditions = vmi.get("status", {}).get("conditions", ())
        return any(each["type"] == "Ready" and each["status"] == status for each in conditions)

    return found


async def test_a_guest_is_found_by_its_names_and_only_while_it_is_ready(place: Place) -> None:
    await place.create(headless("inner"), a_web_server("front"))
    await place.until("web", is_ready("True"), "ready")
    exposed = place.virtctl("expose", "vm", "web", "--name=door", "--port=8080", "--target-port=80")
    assert exposed.code == 0, exposed.err
    assert exposed.out == "Service door successfully created for vm web\n"
    name = f"front.inner.{place.namespace}.svc.cluster.local"
    addresses = ("http://front.inner/", f"http://{name}/", "http://door:8080/")
    said = place.said_by_a_pod("python3", "-c", FETCH, *addresses)
    assert said.splitlines() == ["front says hello"] * 3
    with place.console("web") as guest:
        guest.log_in()
        assert guest.run("hostname") == "front"
        # Guests ask the same resolver, and search the same domains.
        address = (await place.vmi("web"))["status"]["interfaces"][0]["ipAddress"]
        assert f"({address})" in guest.run("sudo ping -c 1 front.inner")
        assert f"({address})" in guest.run(f"sudo ping -c 1 {name}")
        guest.run("sudo rm /run/ready")
        vmi = await place.until(
            "web", is_ready("False"), "not ready", kind="VirtualMachineInstance"
        )
        assert vmi["status"]["phase"] == "Running"
        await place.until("web", is_ready("False"), "not ready")
        guest.run("echo | sudo tee /run/ready")
        await place.until("web", is_ready("True"), "ready again")


LIVES: dict[str, tuple[dict[str, Any], str]] = {
    "pinged": (
        {"guestAgentPing": {}},
        "sudo chmod 0 /usr/lib/guest/agent; sudo killall qemu-ga",
    ),
    "knocked-at": (
        {"tcpSocket": {"port": 22}},
        "sudo chmod 0 /usr/sbin/dropbear; sudo killall dropbear",
    ),
    "fetched": ({"httpGet": {"port": 80, "path": "/index.html"}}, "sudo killall httpd"),
    "asked": ({"exec": {"command": ["cat", "/etc/os-release"]}}, "sudo rm /etc/os-release"),
}
"""Probes, and what a guest does to itself so that they fail."""


async def test_a_guest_that_does_not_answer_any_more_is_ended_and_the_machine_begins_anew(
    place: Place,
) -> None:
    patience = {
        # Nobody answers before the guest has booted, and a busy machine takes its time for that.
        "initialDelaySeconds": 40,
        "periodSeconds": 2,
        "failureThreshold": 10,
        "timeoutSeconds": 20,
    }
    for name, (probe, _) in LIVES.items():
        guest = {
            "livenessProbe": {**probe, **patience},
            "readinessProbe": {**probe, "periodSeconds": 2, "timeoutSeconds": 20},
        }
        volumes = [a_disk("seed", {"cloudInitNoCloud": {"userData": USER_DATA.format(name=name)}})]
        await place.create(a_vm(name, guest=guest, volumes=volumes, runStrategy="Always"))
    async with asyncio.TaskGroup() as tasks:
        for name in LIVES:
            tasks.create_task(_begins_anew(place, name))


async def _begins_anew(place: Place, name: str) -> None:
    kind = "VirtualMachineInstance"
    vmi = await place.until(name, is_ready("True"), "ready", kind=kind)
    first = vmi["metadata"]["uid"]
    await asyncio.to_thread(_undone, place, name)
    assert (await place.vmi(name))["metadata"]["uid"] == first, "it was ended before"
    # Long before it is ended for that.
    vmi = await place.until(name, is_ready("False"), "not ready", kind=kind)
    assert vmi["metadata"]["uid"] == first
    await place.until(
        name,
        lambda vmi: bool(vmi["metadata"]["uid"] != first),
        "another",
        kind=kind,
    )
    await place.until_phase(name, "Running")
    await place.delete(name)


def _undone(place: Place, name: str) -> None:
    with place.console(name) as guest:
        guest.log_in()
        guest.run(LIVES[name][1])


async def test_an_agent_that_may_not_run_a_probe_is_told_of(place: Place) -> None:
    """Several distributions do not let it run programs; from outside the guest is not ready, and nobody knows why."""

    def is_told(vm: dict[str, Any]) -> bool:
        conditions = vm.get("status", {}).get("conditions", ())
        return any(each["type"] == "AgentVersionNotSupported" for each in conditions)

    probe = {"exec": {"command": ["true"]}, "timeoutSeconds": 20}
    await place.create(a_vm("mute", guest={"readinessProbe": probe}, runStrategy="Always"))
    with place.console("mute") as guest:
        guest.log_in()
        guest.run("sudo sed -i 's/--method/-b guest-exec --method/' /usr/lib/guest/agent")
        guest.run("sudo killall qemu-ga")
        vm = await place.until("mute", is_told, "said to have an agent that cannot probe")
        (told,) = [
            each for each in vm["status"]["conditions"] if each["type"].startswith("AgentVersion")
        ]
        assert told["reason"] == "This guest agent doesn't support required exec probe commands"
        assert "does not offer guest-exec;" in told["message"]
        guest.run("sudo sed -i 's/-b guest-exec --method/--method/' /usr/lib/guest/agent")
        guest.run("sudo killall qemu-ga")
        await place.until("mute", lambda vm: not is_told(vm), "well again")
