"""How a guest is found: by its own name, by a Service's, and only while it is ready."""

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


async def test_a_guest_whose_agent_is_gone_is_ended_and_the_machine_begins_anew(
    place: Place,
) -> None:
    probe = {
        # Nobody answers before the guest has booted, and a busy machine takes its time for that.
        "guestAgentPing": {},
        "initialDelaySeconds": 30,
        "periodSeconds": 5,
        "failureThreshold": 4,
        "timeoutSeconds": 20,
    }
    await place.create(a_vm("alive", guest={"livenessProbe": probe}, runStrategy="Always"))
    first = await place.until_phase("alive", "Running")
    with place.console("alive") as guest:
        guest.log_in()
        guest.run("sudo chmod 0 /usr/lib/guest/agent; sudo killall qemu-ga")
        await place.until(
            "alive",
            lambda vmi: bool(vmi["metadata"]["uid"] != first["metadata"]["uid"]),
            "another",
            kind="VirtualMachineInstance",
        )
    await place.until_status("alive", "Running")
