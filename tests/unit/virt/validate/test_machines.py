"""Machines: run strategies, templates, what may change when."""

from typing import Any

import msgspec
import pytest
from tests.unit.virt.domain_cases import merged
from tests.unit.virt.validate.judged import SMALL_MACHINE, a_vm, of_machine, rules, said

from kubevirt.api.machine import VirtualMachine
from kubevirt.virt.validate import machine
from kubevirt.virt.validate.rules import Rules
from kubevirt.virt.validate.warned import RUNNING, guest_warnings, machine_warnings

TEMPLATES = "spec.dataVolumeTemplates"
IMAGE = {"containerDisk": {"image": "example/disk:1"}}
BOOTS = {"spec": {"template": {"spec": {"volumes": [{"name": "root", **IMAGE}]}}}}


def template(**spec: Any) -> dict[str, Any]:
    """A machine with one DataVolume that its guest uses."""
    return {
        "spec": {
            "dataVolumeTemplates": [{"metadata": {"name": "dv"}, "spec": spec}],
            "template": {"spec": {"volumes": [{"name": "a", "dataVolume": {"name": "dv"}}]}},
        }
    }


@pytest.mark.parametrize("strategy", ["Always", "Halted", "Manual", "RerunOnFailure", "Once"])
def test_a_machine_runs_by_one_of_five_strategies(strategy: str) -> None:
    assert of_machine({"spec": {"runStrategy": strategy}}) == ()


@pytest.mark.parametrize("running", [True, False])
def test_a_machine_may_say_running_and_is_warned(running: bool) -> None:  # noqa: FBT001
    patch = {"spec": {**BOOTS["spec"], "runStrategy": None, "running": running}}
    assert of_machine(patch) == ()
    assert machine_warnings(a_vm(patch).spec, Rules()) == (RUNNING,)
    assert machine_warnings(a_vm(BOOTS).spec, Rules()) == ()


def test_whoever_wants_a_guest_to_move_at_its_eviction_hears_that_it_will_not() -> None:
    strategy = {"spec": {"template": {"spec": {"evictionStrategy": "LiveMigrate"}}}}
    vm = a_vm(merged(BOOTS, strategy))
    (warning,) = machine_warnings(vm.spec, Rules())
    assert warning == (
        "spec.template.spec.evictionStrategy: live migration is not built yet; "
        "whoever evicts the guest's pod ends the guest"
    )
    assert vm.spec.template.spec
    assert guest_warnings(vm.spec.template.spec, "spec", Rules())[0].startswith("spec.eviction")
    assert machine_warnings(vm.spec, rules()) == ()  # where guests can move


def test_a_guest_that_the_cluster_or_somebody_else_should_move_is_warned_of_too() -> None:
    external = merged(BOOTS, {"spec": {"template": {"spec": {"evictionStrategy": "External"}}}})
    assert machine_warnings(a_vm(external).spec, Rules()) == (
        (
            "spec.template.spec.evictionStrategy: nobody is asked to move the guest yet; "
            "whoever evicts the guest's pod ends the guest"
        ),
    )
    cluster = rules({"evictionStrategy": "LiveMigrate"}, built=frozenset())
    assert machine_warnings(a_vm(BOOTS).spec, cluster) == (
        (
            "spec.template.spec.evictionStrategy is LiveMigrate, as the KubeVirt object has it for "
            "all: live migration is not built yet; whoever evicts the guest's pod ends the guest"
        ),
    )
    own = merged(BOOTS, {"spec": {"template": {"spec": {"evictionStrategy": "None"}}}})
    assert machine_warnings(a_vm(own).spec, cluster) == ()


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (
            {"running": True},
            "spec.running",
            (
                "Running and RunStrategy are mutually exclusive. Note that Running is deprecated, "
                "please use RunStrategy instead"
            ),
        ),
        ({"runStrategy": None}, "spec.running", "RunStrategy must be specified"),
        ({"runStrategy": "Often"}, "spec.runStrategy", "Invalid RunStrategy (Often)"),
        ({"template": {"spec": None}}, "spec.template", "missing virtual machine template."),
        (
            {"template": {"spec": {"domain": {"cpu": {"sockets": 3, "maxSockets": 2}}}}},
            "spec.template.spec.domain.cpu.sockets",
            "Number of sockets in CPU topology is greater than the maximum sockets allowed",
        ),
        (
            {"template": {"spec": {"hostname": "a.b"}}},
            "spec.template.spec.hostname",
            None,
        ),
    ],
)
def test_a_wrong_machine_is_refused(spec: dict[str, Any], field: str, message: str | None) -> None:
    found = of_machine({"spec": spec})
    assert field in [cause.field for cause in found]
    assert message is None or (field, message) in said(found)


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        ({"source": {"blank": {}}}, "spec.pvc", "Missing Data volume PVC or Storage"),
        (
            {"source": {"blank": {}}, "pvc": {}, "storage": {}},
            "spec.storage",
            "Duplicate storage definition, both target storage and target pvc defined",
        ),
        ({"source": {}, "pvc": {}}, "spec.source", "Missing dataVolume valid source"),
        (
            {"source": {"blank": {}, "upload": {}}, "pvc": {}},
            "spec.source",
            "Multiple dataVolume sources",
        ),
        (
            {"pvc": {}},
            "spec",
            "Data volume should have either Source, SourceRef, or be externally populated",
        ),
        (
            {
                "storage": {},
                "source": {"blank": {}},
                "sourceRef": {"kind": "DataSource", "name": "a"},
            },
            "spec",
            "Data volume should have either Source, SourceRef, or be externally populated",
        ),
    ],
)
def test_a_data_volume_knows_where_its_bytes_come_from(
    spec: dict[str, Any], field: str, message: str
) -> None:
    assert said(of_machine(template(**spec))) == [(f"{TEMPLATES}[0].{field}", message)]


@pytest.mark.parametrize(
    "spec",
    [
        {"source": {"blank": {}}, "pvc": {}},
        {"sourceRef": {"kind": "DataSource", "name": "a"}, "storage": {}},
        {"storage": {"dataSource": {"kind": "PersistentVolumeClaim", "name": "a"}}},
    ],
)
def test_a_data_volume_with_one_source_is_fine(spec: dict[str, Any]) -> None:
    assert of_machine(template(**spec)) == ()


def test_a_data_volume_that_nobody_uses_is_refused() -> None:
    entry: dict[str, Any] = {"metadata": {}, "spec": {"source": {"blank": {}}, "pvc": {}}}
    assert said(of_machine({"spec": {"dataVolumeTemplates": [entry]}})) == [
        (
            f"{TEMPLATES}[0].name",
            f"'name' field must not be empty for DataVolumeTemplate entry {TEMPLATES}[0].",
        ),
        (
            f"{TEMPLATES}[0]",
            (
                f"DataVolumeTemplate entry {TEMPLATES}[0] must be referenced in the VMI template's "
                f"'volumes' list"
            ),
        ),
    ]


def updated(
    change: dict[str, Any], status: dict[str, Any] | None = None, **meta: Any
) -> list[tuple[str, str]]:
    old = merged(SMALL_MACHINE, {"status": status or {}})
    new = merged(old, {"metadata": meta, **change})
    before, after = (msgspec.convert(each, VirtualMachine) for each in (old, new))
    return said(machine.updated(before, after, rules()))


NEW_DISK = {
    "spec": {
        "template": {
            "spec": {
                "domain": {"devices": {"disks": [{"name": "a"}]}},
                "volumes": [{"name": "a", **IMAGE}],
            }
        }
    }
}


def test_a_machine_may_change_while_its_guest_runs() -> None:
    running = {"created": True, "ready": True, "printableStatus": "Running"}
    assert updated(NEW_DISK, running) == []
    assert updated({"spec": {"runStrategy": "Always"}}, running) == []


def test_a_snapshot_holds_disks_and_state() -> None:
    status = {"snapshotInProgress": "snap"}
    assert updated(NEW_DISK, status) == [
        ("spec", 'Cannot update vm disks or volumes until snapshot "snap" completes')
    ]
    assert updated({"spec": {"runStrategy": "Always"}}, status) == [
        ("spec", 'Cannot update vm running state until snapshot "snap" completes')
    ]
    assert updated({"spec": {"template": {"spec": {"hostname": "a"}}}}, status) == []
    moved_to_the_other_field = {"spec": {"runStrategy": None, "running": False}}
    assert updated(moved_to_the_other_field, status) == []


def test_a_restore_holds_a_machine_halted() -> None:
    assert updated({"spec": {"runStrategy": "Always"}}, {"restoreInProgress": "back"}) == [
        ("spec", 'Cannot update VM runStrategy until restore "back" completes')
    ]


def test_an_old_mistake_keeps_nobody_from_writing_labels_or_from_leaving() -> None:
    wrong = merged(SMALL_MACHINE, {"spec": {"runStrategy": "Often"}})
    labelled = merged(wrong, {"metadata": {"labels": {"a": "b"}}})
    assert machine.updated(a_vm(wrong), a_vm(labelled), rules()) == ()
    leaving = merged(
        wrong,
        {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"running": True}},
    )
    assert machine.updated(a_vm(wrong), a_vm(leaving), rules()) == ()


def test_a_cluster_whose_default_network_is_none_says_so() -> None:
    slirp = rules({"network": {"defaultNetworkInterface": "slirp"}})
    assert said(of_machine({}, slirp)) == [
        ("spec.template.spec", "Slirp interface support has been discontinued since v1.3")
    ]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"instancetype": {"name": "small"}}, "spec.instancetype"),
        ({"preference": {"name": "linux"}}, "spec.preference"),
        ({"updateVolumesStrategy": "Migration"}, "spec.updateVolumesStrategy"),
        ({"updateVolumesStrategy": "Magic"}, "spec.updateVolumesStrategy"),
        ({"runStrategy": "WaitAsReceiver"}, "spec.runStrategy"),
        ({"dataVolumeTemplates": [{"metadata": {"name": "a"}, "spec": {}}]}, TEMPLATES),
        (
            {"template": {"metadata": {"annotations": {"hooks.kubevirt.io/hookSidecars": "[]"}}}},
            "spec.template.metadata.annotations",
        ),
    ],
)
def test_what_is_not_built_is_refused_with_a_sentence(spec: dict[str, Any], field: str) -> None:
    found = {cause.field: cause.message for cause in of_machine({"spec": spec}, Rules())}
    assert field in found
    assert found[field]
