"""What a machine can have as a disk, through the API: objects of its namespace, claims, room that goes with the guest;
and who may log in to it.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.nouns.guests import Guest
from tests.e2e.vms.objects import a_claim, a_disk, a_vm, of_claim
from tests.e2e.vms.place import Place
from tests.e2e.vms.test_features_network import is_ready

MIB = 1 << 20
USER_DATA = """\
#cloud-config
password: by-cloud-init
chpasswd: { expire: false }
ssh_pwauth: true
"""


def an_object(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **more}


def a_key(folder: Path) -> Path:
    """A new pair; the public half lies beside it as `.pub`."""
    path = folder / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True, timeout=60
    )
    return path


async def a_machine_with_every_disk(place: Place, key: Path) -> None:
    await place.create(
        an_object("ConfigMap", "settings", data={"colour": "blue"}),
        an_object("Secret", "hidden", stringData={"word": "sesame"}),
        an_object("Secret", "keys", stringData={"jo": key.with_suffix(".pub").read_text()}),
        an_object("ServiceAccount", "robot"),
        a_claim("data"),
    )
    label = {"path": "label", "fieldRef": {"fieldPath": "metadata.labels['tier']"}}
    volumes = [
        a_disk("config", {"configMap": {"name": "settings"}}, serial="CONFIG"),
        a_disk("secret", {"secret": {"secretName": "hidden"}}, serial="SECRET"),
        a_disk("facts", {"downwardAPI": {"fields": [label]}}, serial="FACTS"),
        a_disk("account", {"serviceAccount": {"serviceAccountName": "robot"}}, serial="ACCOUNT"),
        a_disk("scratch", {"emptyDisk": {"capacity": "8Mi"}}, serial="SCRATCH"),
        a_disk("data", of_claim("data"), serial="DATA"),
        a_disk("seed", {"cloudInitNoCloud": {"userData": USER_DATA}}),
    ]
    credential = {
        "source": {"secret": {"secretName": "keys"}},
        "propagationMethod": {"noCloud": {}},
    }
    guest = {
        "accessCredentials": [{"sshPublicKey": credential}],
        "readinessProbe": {"tcpSocket": {"port": 22}, "periodSeconds": 1, "timeoutSeconds": 10},
        "terminationGracePeriodSeconds": 120,
    }
    await place.create(
        a_vm("first", guest=guest, volumes=volumes, labels={"tier": "middle"}, runStrategy="Manual")
    )


@pytest.mark.timeout(900)
async def test_a_machine_has_disks_of_every_kind_and_a_claim_outlives_it(
    place: Place, tmp_path: Path
) -> None:
    key = a_key(tmp_path)
    await a_machine_with_every_disk(place, key)
    assert place.virtctl("start", "first", "--wait").code == 0
    await place.until("first", is_ready("True"), "ready: something answers at its port 22")
    with place.console("first") as guest:
        guest.session.until("login: ")
        guest.session.type("cirros\n")
        guest.session.until("Password: ")
        guest.session.type("by-cloud-init\n")
        guest.session.until("$ ")
        guest.run("stty cols 4000")
        the_objects_are_on_discs(guest)
        copied_to_its_claim(guest)
    the_key_opens_it(place, key)
    # It is asked to end, and does so long before its time is over.
    assert place.virtctl("stop", "first", "--wait").code == 0
    await place.until_event("first", "Stopped", "was shut down")

    second = a_vm("second", runStrategy="Always")
    second["spec"]["template"]["spec"]["volumes"] = [{"name": "root", **of_claim("data")}]
    await place.create(second)
    with place.console("second") as guest:
        guest.log_in()
        assert guest.read("/etc/mark") == "written in another life"


def the_objects_are_on_discs(guest: Guest) -> None:
    assert guest.on_disc(guest.disk("CONFIG"), "colour") == "blue"
    assert guest.on_disc(guest.disk("SECRET"), "word") == "sesame"
    assert guest.on_disc(guest.disk("FACTS"), "label") == "middle"
    assert guest.on_disc(guest.disk("ACCOUNT"), "token").count(".") == 2
    assert guest.run(f"cat /sys/block/{guest.disk('SCRATCH')}/size") == str(8 * MIB // 512)


def copied_to_its_claim(guest: Guest) -> None:
    """With a mark in it, and with cloud-init's password taken back."""
    guest.run("echo written in another life | sudo tee /etc/mark")
    guest.run("echo cirros:gocubsgo | sudo chpasswd; sync")
    guest.run(f"sudo dd if=/dev/vda of=/dev/{guest.disk('DATA')} bs=1M; sync")


def the_key_opens_it(place: Place, key: Path) -> None:
    said = place.virtctl(
        *("ssh", "cirros@vm/first", "--identity-file", str(key), "--command", "hostname"),
        *("--known-hosts", str(key.with_name("known")), "-t", "-o StrictHostKeyChecking=no"),
        *("-t", "-o BatchMode=yes"),
    )
    assert (said.code, said.out) == (0, "first\n"), said.err


async def test_a_disk_of_the_node_is_refused_unless_an_administrator_allows_them(
    place: Place,
) -> None:
    node = {"hostDisk": {"path": "/var/data/disk.img", "type": "DiskOrCreate", "capacity": "8Mi"}}
    wanted = a_vm("greedy", volumes=[a_disk("node", node)])
    said = place.kubectl("apply", "-f", "-", typed=json.dumps(wanted))
    assert said.code != 0
    assert "HostDisk feature gate is not enabled" in said.err
