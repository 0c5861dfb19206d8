"""Commands that show something: of guests, of machines, of the server."""

import json
from pathlib import Path

import pytest
import yaml
from tests.component.cli.conftest import Place, Virtctl

import kubevirt
from kubevirt.cli import exit_codes

INFO = {"guestAgentVersion": "9.0", "hostname": "größe", "os": {"id": "cirros"}, "new": [1]}


@pytest.mark.parametrize(
    ("command", "subresource"),
    [("guestosinfo", "guestosinfo"), ("userlist", "userlist"), ("fslist", "filesystemlist")],
)
def test_what_the_agent_tells_is_shown_whole(
    place: Place, virtctl: Virtctl, command: str, subresource: str
) -> None:
    place.virt_api.tell(f"GET {place.below('vmi', 'testvm', subresource)}", INFO)
    done = virtctl(command, "testvm")
    assert (done.code, done.err) == (0, "")
    assert done.out == json.dumps(INFO, indent=2, ensure_ascii=False) + "\n"


def test_a_guest_without_an_agent_is_said(place: Place, virtctl: Virtctl) -> None:
    said = "VMI does not have guest agent connected"
    place.virt_api.refuse(f"GET {place.below('vmi', 'testvm', 'guestosinfo')}", 500, said)
    done = virtctl("guestosinfo", "vm/testvm")
    assert (done.code, done.out, done.err) == (exit_codes.FAILED, "", f"virtctl: {said}\n")


# expand


EXPANDED = {"kind": "VirtualMachine", "spec": {"template": {"spec": {"domain": {}}}}}


def test_a_machine_of_the_server_is_expanded(place: Place, virtctl: Virtctl) -> None:
    place.virt_api.tell(f"GET {place.below('vm', 'testvm', 'expand-spec')}", EXPANDED)
    assert yaml.safe_load(virtctl("expand", "--vm", "testvm").out) == EXPANDED
    assert json.loads(virtctl("expand", "--vm", "testvm", "-o", "json").out) == EXPANDED


def test_a_manifest_is_expanded(place: Place, virtctl: Virtctl, tmp_path: Path) -> None:
    manifest = {"kind": "VirtualMachine", "metadata": {"name": "a"}, "spec": {}}
    file = tmp_path / "vm.yaml"
    file.write_text(yaml.safe_dump(manifest))
    place.virt_api.tell(f"PUT {place.namespace}/expand-vm-spec", EXPANDED)
    assert yaml.safe_load(virtctl("expand", "--file", str(file)).out) == EXPANDED
    assert place.virt_api.last("expand-vm-spec").body == manifest


@pytest.mark.parametrize("text", ["kind: Pod", "- 1", "{", ""])
def test_what_is_no_machine_is_not_sent(virtctl: Virtctl, tmp_path: Path, text: str) -> None:
    file = tmp_path / "vm.yaml"
    file.write_text(text)
    done = virtctl("expand", "--file", str(file))
    assert done.code == exit_codes.FAILED
    assert done.err.startswith("virtctl: the manifest is not")


def test_either_a_machine_or_a_manifest_is_expanded(virtctl: Virtctl) -> None:
    assert virtctl("expand").code == exit_codes.USAGE


# version


def test_the_versions_of_both_sides_are_shown(place: Place, virtctl: Virtctl) -> None:
    place.virt_api.tell("GET /version", {"gitVersion": f"v{kubevirt.__version__}"})
    done = virtctl("version")
    assert done.code == 0
    assert done.out.startswith(
        f"Client Version: {kubevirt.__version__}\nServer Version: v{kubevirt.__version__}\n"
        "Kubernetes Version: v1."
    )
    assert done.err == ""
    assert set(json.loads(virtctl("version", "-o", "json").out)) == {
        "clientVersion",
        "serverVersion",
        "kubernetesVersion",
    }


def test_versions_that_differ_are_warned_of_beside_the_answer(
    place: Place, virtctl: Virtctl
) -> None:
    place.virt_api.tell("GET /version", {"gitVersion": "v1.6.0"})
    done = virtctl("version")
    assert "Server Version: v1.6.0\n" in done.out
    assert "the server is v1.6.0" in done.err


def test_a_server_without_kubevirt_still_has_a_version(place: Place, virtctl: Virtctl) -> None:
    place.virt_api.refuse("GET /version", 404, "404 page", "NotFound")
    done = virtctl("version")
    assert done.code == 0
    assert "Server Version" not in done.out
    assert "Kubernetes Version: v1." in done.out
    assert "does not serve subresources.kubevirt.io" in done.err


# options and completion


def test_all_common_flags_are_listed(virtctl: Virtctl) -> None:
    done = virtctl("options", common=False)
    assert done.code == 0
    for flag in ("--kubeconfig", "--context", "-n, --namespace", "-s, --server", "--token", "--as"):
        assert flag in done.out
