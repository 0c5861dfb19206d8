"""What kubectl applies: taken and filled in, or refused in KubeVirt's words."""

import uuid
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from tests.component.virtapi.machines import DOMAIN, MERGE, Machines

from kubevirt.kube.errors import ApiError, Forbidden, Invalid

EXAMPLE = Path(__file__).parents[3] / "examples/standalone/vm.yaml"
INFERRED = Path(__file__).parents[2] / "golden/create-vm/inferred.yaml"
"""As virtctl writes it."""
MACHINE_FINALIZER = "kubevirt.io/virtualMachineControllerFinalize"
FINALIZER = "kubevirt.io/foregroundDeleteVirtualMachine"


def manifest(kind: str, spec: dict[str, Any], name: str = "testvm") -> str:
    return yaml.safe_dump(
        {"apiVersion": "kubevirt.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
    )


async def test_the_example_is_accepted_and_filled_in(machines: Machines) -> None:
    said = await machines.kubectl("apply", "-f", str(EXAMPLE))
    assert (said.code, said.stdout) == (0, "virtualmachine.kubevirt.io/testvm created\n")
    assert "spec.running is deprecated, please use spec.runStrategy instead." in said.stderr
    vm = await machines.get("virtualmachines", "testvm")
    assert vm["metadata"]["finalizers"] == [MACHINE_FINALIZER]
    spec = vm["spec"]["template"]["spec"]
    assert (spec["architecture"], spec["domain"]["machine"]) == ("amd64", {"type": "q35"})
    again = await machines.kubectl("apply", "-f", str(EXAMPLE))
    assert again.stdout == "virtualmachine.kubevirt.io/testvm unchanged\n"


async def test_a_machine_is_somebody_from_the_day_it_is_made(machines: Machines) -> None:
    file = manifest(
        "VirtualMachine", {"runStrategy": "Halted", "template": {"spec": {"domain": DOMAIN}}}
    )

    async def identity_after(*words: str) -> dict[str, str]:
        said = await machines.kubectl(*words, "-f", "-", stdin=file)
        assert said.code == 0, said.stderr
        vm = await machines.get("virtualmachines", "testvm")
        found: dict[str, str] = vm["spec"]["template"]["spec"]["domain"]["firmware"]
        return found

    first = await identity_after("create")
    assert uuid.UUID(first["uuid"]) != uuid.UUID(first["serial"])
    assert await identity_after("apply") == first
    assert await identity_after("replace") == first
    await machines.kubectl(
        "patch", "vm", "testvm", "--type=merge", "-p", '{"metadata": {"finalizers": null}}'
    )
    await machines.kubectl("delete", "vm", "testvm")
    another = await identity_after("create")
    assert {*another.values()}.isdisjoint(first.values())


async def test_an_instance_begins_as_pending_whatever_it_says(machines: Machines) -> None:
    body = yaml.safe_load(manifest("VirtualMachineInstance", {"domain": DOMAIN}))
    body["status"] = {"phase": "Running", "nodeName": "elsewhere"}
    said = await machines.kubectl("create", "-f", "-", stdin=yaml.safe_dump(body))
    assert said.code == 0, said.stderr
    vmi = await machines.get("virtualmachineinstances", "testvm")
    assert vmi["status"]["phase"] == "Pending"
    assert "nodeName" not in vmi["status"]
    assert vmi["metadata"]["finalizers"] == [FINALIZER]
    assert vmi["spec"]["domain"]["cpu"]["cores"] == 1


async def test_what_may_fail_to_be_inferred_is_left_out_with_a_warning(machines: Machines) -> None:
    said = await machines.kubectl("apply", "-f", str(INFERRED))
    assert said.code == 0, said.stderr
    for key in ("instancetype", "preference"):
        assert f"Warning: spec.{key} is left out, as its inferFromVolume" in said.stderr
    vm = await machines.get("virtualmachines", "testvm")
    assert not {"instancetype", "preference"} & vm["spec"].keys()
    assert vm["spec"]["template"]["spec"]["domain"]["firmware"]["uuid"]


async def test_a_setting_that_does_nothing_is_taken_with_a_word(machines: Machines) -> None:
    configuration = {
        "permittedHostDevices": {"usb": [{"resourceName": "a/b", "selectors": []}]},
        "developerConfiguration": {"featureGates": ["HostDisk", "Sidecar"]},
    }
    file = manifest("KubeVirt", {"configuration": configuration}, name="elsewhere")
    said = await machines.kubectl("create", "-f", "-", stdin=file)
    assert said.code == 0, said.stderr
    devices, gate = said.stderr.splitlines()
    assert devices == (
        "Warning: spec.configuration.permittedHostDevices has no effect here: devices of nodes "
        "cannot be handed to guests yet"
    )
    assert "featureGates Sidecar has no effect here" in gate
    patch = '{"spec": {"imageTag": "v1.9.0"}}'
    said = await machines.kubectl("patch", "kubevirt", "elsewhere", "--type=merge", "-p", patch)
    assert said.stderr == (
        "Warning: spec.imageTag has no effect here: virt-operator is not built yet\n"
    )


REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "VirtualMachine",
        {"template": {"spec": {"domain": DOMAIN}}},
        "virtualmachine-validator.kubevirt.io",
        "RunStrategy must be specified",
    ),
    (
        "VirtualMachine",
        {"running": True, "runStrategy": "Always", "template": {"spec": {"domain": DOMAIN}}},
        "virtualmachine-validator.kubevirt.io",
        "Running and RunStrategy are mutually exclusive. Note that Running is deprecated, please use RunStrategy instead",
    ),
    (
        "VirtualMachine",
        {"runStrategy": "Sometimes", "template": {"spec": {"domain": DOMAIN}}},
        "virtualmachine-validator.kubevirt.io",
        "Invalid RunStrategy (Sometimes)",
    ),
    (
        "VirtualMachine",
        {
            "runStrategy": "Halted",
            "template": {
                "spec": {
                    "domain": {**DOMAIN, "devices": {"disks": [{"name": "a", "disk": {}}]}},
                }
            },
        },
        "virtualmachine-validator.kubevirt.io",
        "spec.template.spec.domain.devices.disks[0].name 'a' not found.",
    ),
    (
        "VirtualMachineInstance",
        {"domain": {"devices": {}}},
        "virtualmachineinstances-create-validator.kubevirt.io",
        "no memory requested, at least one of 'spec.domain.memory.guest', 'spec.domain.memory.hugepages.pageSize' or 'spec.domain.resources.requests.memory' must be set",
    ),
    (
        "VirtualMachineInstanceMigration",
        {"vmiName": "testvm"},
        "migration-create-validator.kubevirt.io",
        "not built yet: live migration; nothing would act on virtualmachineinstancemigrations.kubevirt.io, so none is created",
    ),
]


@pytest.mark.parametrize(
    ("kind", "spec", "webhook", "text"), REFUSED, ids=[each[3][:30] for each in REFUSED]
)
async def test_a_mistake_is_told(
    machines: Machines, kind: str, spec: dict[str, Any], webhook: str, text: str
) -> None:
    said = await machines.kubectl("create", "-f", "-", stdin=manifest(kind, spec))
    assert said.code == 1
    assert text in said.stderr, said.stderr
    body = yaml.safe_load(manifest(kind, spec))
    with pytest.raises(Invalid) as caught:
        await machines.client.raw("POST", machines.path(f"{kind.lower()}s"), body)
    assert str(caught.value) == f'admission webhook "{webhook}" denied the request: {text}'


async def test_a_refusal_names_its_fields(machines: Machines) -> None:
    with pytest.raises(Invalid) as caught:
        await machines.machine(runStrategy="Sometimes")
    assert [(each.reason, each.field) for each in caught.value.causes] == [
        ("FieldValueInvalid", "spec.runStrategy")
    ]


async def test_a_machine_may_change_and_is_judged_again(machines: Machines) -> None:
    await machines.machine(runStrategy="Halted")
    patch = '{"spec": {"runStrategy": "Never"}}'
    said = await machines.kubectl("patch", "vm", "testvm", "--type=merge", "-p", patch)
    assert "Invalid RunStrategy (Never)" in said.stderr
    said = await machines.kubectl("label", "vm", "testvm", "a=b")
    assert said.code == 0


async def test_nobody_else_changes_what_a_guest_is(machines: Machines) -> None:
    await machines.instance()
    patch = '{"spec": {"domain": {"memory": {"guest": "128Mi"}}}}'
    said = await machines.kubectl("patch", "vmi", "testvm", "--type=merge", "-p", patch)
    assert "update of VMI object is restricted" in said.stderr


async def _user(machines: Machines, name: str, *verbs: str) -> Path:
    """Somebody who may do these with machines, instances and their status, in this namespace."""
    path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{machines.namespace}"
    resources = ["virtualmachines", "virtualmachines/status", "virtualmachineinstances"]
    rule = {"apiGroups": ["kubevirt.io"], "resources": resources, "verbs": list(verbs)}
    await machines.client.raw(
        "POST", f"{path}/roles", {"metadata": {"name": name}, "rules": [rule]}
    )
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}
    binding = {"metadata": {"name": name}, "roleRef": role, "subjects": [subject]}
    await machines.client.raw("POST", f"{path}/rolebindings", binding)
    return machines.place.server.kubeconfig_for(name)


async def _patched(machines: Machines, config: Path, path: str, body: Any) -> Any:
    """Rights that were just given are known a moment later."""
    async with machines.place.client(config) as user:
        for _ in range(200):
            try:
                return msgspec.json.decode(await user.raw("PATCH", path, body, content_type=MERGE))
            except Forbidden as error:
                if "denied the request" in str(error):
                    raise
        raise AssertionError("the user never got their rights")


async def test_a_user_frees_no_machine_and_tells_nothing_of_an_instance(
    machines: Machines,
) -> None:
    jane = await _user(machines, "jane", "*")
    await machines.machine(runStrategy="Halted")
    await machines.instance()
    freed = {"metadata": {"finalizers": None}}
    vm = await _patched(machines, jane, machines.path("virtualmachines", "testvm"), freed)
    assert vm["metadata"]["finalizers"] == [MACHINE_FINALIZER]
    path = machines.path("virtualmachineinstances", "testvm")
    vmi = await _patched(machines, jane, path, {"status": {"nodeName": "mine"}, **freed})
    assert (vmi["status"]["nodeName"], vmi["metadata"]["finalizers"]) == ("node01", [FINALIZER])


async def test_the_status_of_a_machine_is_not_for_users(machines: Machines) -> None:
    jane = await _user(machines, "jane", "*")
    await machines.machine(runStrategy="Halted")
    path = f"{machines.path('virtualmachines', 'testvm')}/status"
    with pytest.raises(ApiError, match="status is written by KubeVirt's own components"):
        await _patched(machines, jane, path, {"status": {"ready": True}})


async def test_an_administrator_breaks_glass(machines: Machines) -> None:
    await machines.machine(runStrategy="Halted")
    patch = '{"metadata": {"finalizers": null}}'
    said = await machines.kubectl("patch", "vm", "testvm", "--type=merge", "-p", patch)
    assert said.code == 0, said.stderr
    vm = await machines.get("virtualmachines", "testvm")
    assert "finalizers" not in vm["metadata"]
