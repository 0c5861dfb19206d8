"""Objects on their way into the server: what is written into them, and what is put back."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from tests.unit.virt.domain_cases import SMALL_GUEST, merged
from tests.unit.virt.validate.judged import SMALL_MACHINE

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.apiserver.patch import json_patch
from kubevirt.virt.defaults.admitted import (
    Patch,
    born_machine_patch,
    changed_instance_patch,
    changed_machine_patch,
    machine_patch,
    new_instance_patch,
)
from kubevirt.virt.defaults.identity import NONE, Identity
from kubevirt.virt.pod import security

NOW = datetime(2026, 11, 16, tzinfo=UTC)
DRAWN = Identity(uuid="d5d0a1c7-9b8e-4b43-8f3a-0a2f3c1f1a11", serial="a-serial")
FINALIZER = "kubevirt.io/foregroundDeleteVirtualMachine"
MACHINE_FINALIZER = "kubevirt.io/virtualMachineControllerFinalize"


def applied(value: Mapping[str, Any], patch: Patch) -> dict[str, Any]:
    operations = json_patch.parse(msgspec.json.decode(msgspec.json.encode(patch)))
    result: dict[str, Any] = json_patch.apply(dict(value), operations)
    return result


def configured(configuration: Mapping[str, Any] | None = None) -> KubeVirtConfiguration:
    return msgspec.convert(configuration or {}, KubeVirtConfiguration)


def stored(
    patch: Mapping[str, Any], configuration: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    raw = merged(SMALL_GUEST, patch)
    return applied(raw, new_instance_patch(raw, configured(configuration), NOW, DRAWN))


def test_a_new_instance_is_pending_and_kept() -> None:
    vmi = stored({})
    assert vmi["metadata"]["finalizers"] == [FINALIZER]
    assert vmi["metadata"]["annotations"] == {"kubevirt.io/pci-topology-version": "v3"}
    assert vmi["spec"]["evictionStrategy"] == "None"
    assert vmi["status"] == {
        "phase": "Pending",
        "phaseTransitionTimestamps": [
            {"phase": "Pending", "phaseTransitionTimestamp": "2026-11-16T00:00:00Z"}
        ],
        "runtimeUser": 107,
        "currentCPUTopology": {"sockets": 1, "cores": 1, "threads": 1},
        "memory": {"guestAtBoot": "64Mi", "guestCurrent": "64Mi", "guestRequested": "64Mi"},
    }


def test_nobody_is_born_running() -> None:
    forged = {"status": {"phase": "Running", "nodeName": "elsewhere", "runtimeUser": 0}}
    assert stored(forged)["status"] == stored({})["status"]


def test_an_instance_keeps_the_name_of_the_copy_that_its_machine_was_started_from() -> None:
    told = stored({"status": {"virtualMachineRevisionName": "revision-start-vm-1-2"}})["status"]
    assert told["virtualMachineRevisionName"] == "revision-start-vm-1-2"


def test_what_our_types_do_not_know_stays() -> None:
    vmi = stored({"spec": {"later": {"a": 1}}, "metadata": {"managedFields": [{"a": 1}]}})
    assert vmi["spec"]["later"] == {"a": 1}
    assert vmi["metadata"]["managedFields"] == [{"a": 1}]


def test_what_was_said_is_not_overwritten() -> None:
    said = {
        "metadata": {
            "finalizers": ["a/b", FINALIZER],
            "annotations": {"kubevirt.io/pci-topology-version": "v2"},
        },
        "spec": {"evictionStrategy": "External"},
    }
    vmi = stored(said, {"evictionStrategy": "LiveMigrate"})
    assert vmi["metadata"]["finalizers"] == ["a/b", FINALIZER]
    assert vmi["metadata"]["annotations"] == {"kubevirt.io/pci-topology-version": "v2"}
    assert vmi["spec"]["evictionStrategy"] == "External"


def test_the_cluster_decides_on_eviction() -> None:
    vmi = stored({}, {"evictionStrategy": "LiveMigrate"})
    assert vmi["spec"]["evictionStrategy"] == "LiveMigrate"


def test_no_instance_says_that_its_launcher_is_root() -> None:
    """It said so where gate Root was open, and its pod ran as 107 as always."""
    vmi = stored({}, {"developerConfiguration": {"featureGates": ["Root"]}})
    assert vmi["status"]["runtimeUser"] == security.USER


def test_probes_are_as_patient_as_those_of_containers() -> None:
    probes = {
        "readinessProbe": {"guestAgentPing": {}},
        "livenessProbe": {"guestAgentPing": {}, "periodSeconds": 3, "failureThreshold": 0},
    }
    vmi = stored({"spec": probes})
    assert vmi["spec"]["readinessProbe"] == {
        "guestAgentPing": {},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    assert vmi["spec"]["livenessProbe"]["periodSeconds"] == 3
    assert vmi["spec"]["livenessProbe"]["failureThreshold"] == 3


def test_a_second_pass_changes_the_status_alone() -> None:
    once = stored({})
    (status,) = new_instance_patch(once, configured(), NOW, DRAWN)
    assert (status.path, status.value) == ("/status", once["status"])


@pytest.mark.parametrize(
    "spec", [{"architecture": "ppc64le"}, {"domain": {"memory": {"guest": "much"}}}]
)
def test_an_instance_that_cannot_be_filled_is_left_to_the_validator(spec: dict[str, Any]) -> None:
    assert new_instance_patch(merged(SMALL_GUEST, {"spec": spec}), configured(), NOW, DRAWN) == ()


def a_stored(**more: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a", "finalizers": ["x/y", FINALIZER]}, **more}


def test_a_status_that_somebody_else_wrote_is_put_back() -> None:
    old = a_stored(status={"phase": "Running", "later": 1})
    new = merged(old, {"status": {"phase": "Failed"}, "metadata": {"labels": {"a": "b"}}})
    patch = changed_instance_patch(old, new, is_ours=False, may_free=False)
    assert applied(new, patch) == merged(old, {"metadata": {"labels": {"a": "b"}}})
    assert changed_instance_patch(old, new, is_ours=True, may_free=True) == ()
    without = a_stored()
    forged = merged(without, {"status": {"phase": "Running"}})
    undone = changed_instance_patch(without, forged, is_ours=False, may_free=False)
    assert applied(forged, undone) == without


def test_our_finalizers_are_put_back_and_others_are_not() -> None:
    old = a_stored()
    new: dict[str, Any] = {"metadata": {"name": "a", "finalizers": ["z/z"]}}
    patch = changed_instance_patch(old, new, is_ours=False, may_free=False)
    assert applied(new, patch)["metadata"]["finalizers"] == ["z/z", FINALIZER]
    assert changed_instance_patch(old, new, is_ours=False, may_free=True) == ()
    bare: dict[str, Any] = {"metadata": {"name": "a"}}
    patch = changed_instance_patch(old, bare, is_ours=False, may_free=False)
    assert applied(bare, patch)["metadata"]["finalizers"] == [FINALIZER]


def test_a_machine_keeps_its_architecture_and_machine_type() -> None:
    patch = machine_patch(SMALL_MACHINE, configured({"machineType": "pc-q35-9.2"}), NONE)
    vm = applied(SMALL_MACHINE, patch)
    spec = vm["spec"]["template"]["spec"]
    assert (spec["architecture"], spec["domain"]["machine"]) == ("amd64", {"type": "pc-q35-9.2"})
    assert machine_patch(vm, configured(), NONE) == ()


def test_a_machine_that_cannot_be_filled_is_left_to_the_validator() -> None:
    bare = merged(SMALL_MACHINE, {"spec": {"template": {"spec": None}}})
    strange = merged(SMALL_MACHINE, {"spec": {"template": {"spec": {"architecture": "mips"}}}})
    assert machine_patch(bare, configured(), DRAWN) == ()
    assert machine_patch(strange, configured(), DRAWN) == ()


def test_replacing_a_machine_by_its_file_does_not_free_it() -> None:
    old = merged(SMALL_MACHINE, {"metadata": {"finalizers": [MACHINE_FINALIZER]}})
    patch = changed_machine_patch(old, SMALL_MACHINE, configured(), may_free=False)
    assert applied(SMALL_MACHINE, patch)["metadata"]["finalizers"] == [MACHINE_FINALIZER]
    freed = changed_machine_patch(old, SMALL_MACHINE, configured(), may_free=True)
    assert "finalizers" not in applied(SMALL_MACHINE, freed)["metadata"]


def test_a_new_machine_is_kept_until_its_instance_is_gone() -> None:
    raw = {**SMALL_MACHINE, "metadata": {"name": "testvm", "finalizers": ["example.com/mine"]}}
    vm = applied(raw, born_machine_patch(raw, configured(), DRAWN))
    assert vm["metadata"]["finalizers"] == ["example.com/mine", MACHINE_FINALIZER]
    assert vm["spec"]["template"]["spec"]["architecture"] == "amd64"
    again = born_machine_patch(vm, configured(), Identity(uuid="another"))
    assert again == ()


def firmware_of(vm: Mapping[str, Any]) -> Any:
    return vm["spec"]["template"]["spec"]["domain"].get("firmware")


def with_firmware(firmware: Mapping[str, Any]) -> dict[str, Any]:
    return merged(
        SMALL_MACHINE, {"spec": {"template": {"spec": {"domain": {"firmware": firmware}}}}}
    )


def test_a_new_machine_gets_an_identity_and_keeps_what_it_brought() -> None:
    vm = applied(SMALL_MACHINE, born_machine_patch(SMALL_MACHINE, configured(), DRAWN))
    assert firmware_of(vm) == {"uuid": DRAWN.uuid, "serial": DRAWN.serial}
    mine = with_firmware({"serial": "mine"})
    vm = applied(mine, born_machine_patch(mine, configured(), DRAWN))
    assert firmware_of(vm) == {"uuid": DRAWN.uuid, "serial": "mine"}


def test_replacing_a_machine_by_its_file_makes_no_other_one_of_it() -> None:
    old = with_firmware({"uuid": DRAWN.uuid, "serial": DRAWN.serial})
    patch = changed_machine_patch(old, SMALL_MACHINE, configured(), may_free=False)
    assert firmware_of(applied(SMALL_MACHINE, patch)) == firmware_of(old)
    chosen = with_firmware({"uuid": "e5d0a1c7-9b8e-4b43-8f3a-0a2f3c1f1a11", "serial": "other"})
    patch = changed_machine_patch(old, chosen, configured(), may_free=False)
    assert firmware_of(applied(chosen, patch)) == firmware_of(chosen)


def test_an_old_machine_without_an_identity_is_given_none_when_it_changes() -> None:
    patch = changed_machine_patch(SMALL_MACHINE, SMALL_MACHINE, configured(), may_free=False)
    assert firmware_of(applied(SMALL_MACHINE, patch)) is None
    unreadable = merged(SMALL_MACHINE, {"spec": {"template": 1}})
    patch = changed_machine_patch(unreadable, SMALL_MACHINE, configured(), may_free=False)
    assert firmware_of(applied(SMALL_MACHINE, patch)) is None


def test_instances_whose_names_the_server_makes_up_are_different_guests() -> None:
    """They had the same UUID: it followed from a name that admission does not know yet."""
    nameless = {
        "metadata": {"name": None, "generateName": "guest-"},
        "spec": {"domain": {"firmware": None}},
    }
    unnamed = merged(SMALL_GUEST, nameless)
    identities = {
        applied(unnamed, new_instance_patch(unnamed, configured(), NOW, Identity(uuid=each)))[
            "spec"
        ]["domain"]["firmware"]["uuid"]
        for each in ("one", "other")
    }
    assert identities == {"one", "other"}
