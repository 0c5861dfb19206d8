"""Instances: who may create, change and own them."""

from typing import Any

import pytest
from tests.unit.virt.domain_cases import a_vmi, merged
from tests.unit.virt.validate.judged import (
    API,
    CONTROLLER,
    USER,
    gated,
    of_instance,
    rules,
    said,
)

from kubevirt.api.core.reviews import UserInfo
from kubevirt.virt.validate import instance
from kubevirt.virt.validate.missing import KINDS, kind_causes
from kubevirt.virt.validate.ownership import RESERVED, status_causes
from kubevirt.virt.validate.requester import NODE_NAME, Requester
from kubevirt.virt.validate.rules import Rules

CREATION = "creation of the following reserved kubevirt.io/ labels on a VMI object is prohibited"
CHANGE = "modification of the following reserved kubevirt.io/ labels on a VMI object is prohibited"
CLAIM = {"name": "a", "persistentVolumeClaim": {"claimName": "c", "hotpluggable": True}}
IMAGE = {"name": "root", "containerDisk": {"image": "example/disk:1"}}
SCSI = {"name": "a", "disk": {"bus": "scsi"}}

A_SECRET = {"secret": {"secretName": "a"}}


def credentials(**one: Any) -> dict[str, Any]:
    return {"accessCredentials": [one]}


def handler(node: str | None) -> Requester:
    return Requester(
        username="system:serviceaccount:kubevirt:kubevirt-handler",
        extra={NODE_NAME: (node,)} if node else {},
    )


def updated(
    old: dict[str, Any], change: dict[str, Any], requester: Requester = USER
) -> list[tuple[str, str]]:
    causes = instance.updated(a_vmi(old), a_vmi(merged(old, change)), requester, rules())
    return said(causes)


@pytest.mark.parametrize("label", RESERVED)
def test_reserved_labels_are_ours(label: str) -> None:
    labelled = {"metadata": {"labels": {label: "x"}}}
    assert said(of_instance(labelled)) == [("metadata.labels", CREATION)]
    assert of_instance(labelled, CONTROLLER) == ()
    assert updated({}, labelled) == [("metadata.labels", CHANGE)]
    assert updated(labelled, {"metadata": {"labels": {label: None}}}) == [
        ("metadata.labels", CHANGE)
    ]
    assert updated({}, labelled, CONTROLLER) == []


def test_a_user_may_label_and_annotate() -> None:
    change = {"metadata": {"labels": {"app": "x"}, "annotations": {"a": "b"}}}
    assert updated({}, change) == []


def test_the_spec_of_a_running_guest_is_changed_by_us_only() -> None:
    change = {"spec": {"terminationGracePeriodSeconds": 1}}
    assert updated({}, change) == [("", "update of VMI object is restricted")]
    assert updated({}, change, API) == []


def test_a_component_of_another_installation_is_anybody() -> None:
    there = Requester(username="system:serviceaccount:elsewhere:kubevirt-controller")
    assert not there.is_ours
    assert not Requester(username="kubevirt-controller").is_ours
    assert not Requester(username="system:serviceaccount:kubevirt:default").is_ours
    info = UserInfo(username="system:serviceaccount:kv:kubevirt-handler", groups=("a",))
    assert Requester.of(info, "kv").is_ours


def test_an_unchanged_spec_is_not_judged_again() -> None:
    wrong = {"spec": {"hostname": "a.b"}}
    assert updated(wrong, {"status": {"phase": "Failed"}}, CONTROLLER) == []


def test_a_node_changes_its_own_guests_only() -> None:
    here = {"status": {"nodeName": "one"}}
    change = {"metadata": {"annotations": {"a": "b"}}}
    assert updated(here, change, handler("one")) == []
    assert updated(here, change, handler("two")) == [
        ("", "Node restriction, virt-handler is only allowed to modify VMIs it owns")
    ]
    assert updated(here, change, handler(None)) == [
        ("", "Node restriction failed, virt-handler service account is missing node name")
    ]
    target = {"status": {"migrationState": {"targetNode": "two"}}}
    assert updated(here, target, handler("one")) == [
        ("", "Node restriction, virt-handler is not allowed to set target node")
    ]
    assert updated(merged(here, target), change, handler("two")) == []


def test_the_restriction_of_nodes_has_a_gate() -> None:
    off = rules({"developerConfiguration": {"disabledFeatureGates": ["NodeRestriction"]}})
    vmi = a_vmi({"status": {"nodeName": "one"}})
    assert instance.updated(vmi, vmi, handler("two"), off) == ()


def test_status_is_written_by_components_and_administrators() -> None:
    assert list(status_causes(CONTROLLER)) == []
    assert list(status_causes(Requester(username="root", groups=("system:masters",)))) == []
    assert [cause.field for cause in status_causes(USER)] == ["status"]


def devices(*disks: dict[str, Any], volumes: list[dict[str, Any]]) -> dict[str, Any]:
    return {"spec": {"domain": {"devices": {"disks": list(disks)}}, "volumes": volumes}}


ROOT = {"name": "root", "disk": {"bus": "virtio"}}


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (devices(volumes=[]), "Number of permanent volumes has changed"),
        (
            devices(ROOT, volumes=[{"name": "root", "containerDisk": {"image": "other:1"}}]),
            "permanent volume root, changed",
        ),
        (
            devices({"name": "root", "disk": {"bus": "scsi"}}, volumes=[IMAGE]),
            "permanent volume root, changed",
        ),
        (
            devices(ROOT, {"name": "b"}, volumes=[IMAGE, {**IMAGE, "name": "b"}]),
            "volume b is not a PVC or DataVolume",
        ),
        (devices(ROOT, volumes=[IMAGE, CLAIM]), "disk a does not exist"),
        (
            devices(ROOT, {"name": "a", "disk": {"bus": "sata"}}, volumes=[IMAGE, CLAIM]),
            "disk for disk [a] requires bus to be 'scsi' or 'virtio'. [sata] is not permitted.",
        ),
    ],
)
def test_what_a_guest_was_born_with_stays(new: dict[str, Any], message: str) -> None:
    old = devices(ROOT, volumes=[IMAGE])
    assert message in [text for _, text in updated(old, new, CONTROLLER)]


def test_a_claim_may_be_plugged_but_not_exchanged() -> None:
    old, new = devices(ROOT, volumes=[IMAGE]), devices(ROOT, SCSI, volumes=[IMAGE, CLAIM])
    assert updated(old, new, CONTROLLER) == []
    assert updated(new, old, CONTROLLER) == []
    other = {"name": "a", "persistentVolumeClaim": {"claimName": "d", "hotpluggable": True}}
    exchanged = devices(ROOT, SCSI, volumes=[IMAGE, other])
    assert updated(new, exchanged, CONTROLLER) == [("spec.volumes", "hotplug volume a, changed")]


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_without_a_controller_is_refused(name: str) -> None:
    resource, _, group = name.partition(".")
    (cause,) = kind_causes(resource, group, Rules())
    assert cause.message.startswith("not built yet: ")
    assert list(kind_causes(resource, group, Rules(built=frozenset({name})))) == []


def test_a_kind_that_works_is_not_refused() -> None:
    for resource in ("virtualmachines", "virtualmachineinstances", "kubevirts"):
        assert list(kind_causes(resource, "kubevirt.io", Rules())) == []


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        (
            {"domain": {"devices": {"filesystems": [{"name": "a", "virtiofs": {}}]}}},
            "domain.devices.filesystems",
        ),
        (
            {"domain": {"devices": {"clientPassthrough": {}}}},
            "domain.devices.clientPassthrough",
        ),
        ({"domain": {"devices": {"downwardMetrics": {}}}}, "domain.devices.downwardMetrics"),
        ({"domain": {"devices": {"autoattachVSOCK": True}}}, "domain.devices.autoattachVSOCK"),
        (
            {"domain": {"memory": {"reservedOverhead": {"memLock": "Required"}}}},
            "domain.memory.reservedOverhead.memLock",
        ),
        (
            {"domain": {"devices": {"disks": [{"name": "a", "changedBlockTracking": True}]}}},
            "domain.devices.disks[0].changedBlockTracking",
        ),
        ({"volumes": [{"name": "a", "downwardMetrics": {}}]}, "volumes[0]"),
        ({"domain": {"devices": {"gpus": [{"name": "a"}]}}}, "domain.devices.gpus"),
        ({"domain": {"devices": {"hostDevices": [{"name": "a"}]}}}, "domain.devices.hostDevices"),
        ({"resourceClaims": [{"name": "a"}]}, "resourceClaims"),
        ({"utilityVolumes": [{"name": "a", "claimName": "b"}]}, "utilityVolumes"),
        ({"domain": {"launchSecurity": {"sev": {}}}}, "domain.launchSecurity"),
        ({"domain": {"devices": {"tpm": {"persistent": True}}}}, "domain.devices.tpm.persistent"),
        (
            {"domain": {"firmware": {"bootloader": {"efi": {"persistent": True}}}}},
            "domain.firmware.bootloader.efi.persistent",
        ),
        (
            credentials(
                sshPublicKey={
                    "source": A_SECRET,
                    "propagationMethod": {"qemuGuestAgent": {"users": ["a"]}},
                }
            ),
            "accessCredentials[0].sshPublicKey.propagationMethod.qemuGuestAgent",
        ),
        (
            credentials(
                userPassword={"source": A_SECRET, "propagationMethod": {"qemuGuestAgent": {}}}
            ),
            "accessCredentials[0].userPassword",
        ),
        ({"volumes": [{"name": "a", "dataVolume": {"name": "a"}}]}, "volumes[0].dataVolume"),
        ({"volumes": [{"name": "a", "memoryDump": {"claimName": "a"}}]}, "volumes[0]"),
        ({"volumes": [{"name": "a", "containerPath": {"path": "/a"}}]}, "volumes[0]"),
        ({"volumes": [CLAIM]}, "volumes[0].persistentVolumeClaim.hotpluggable"),
        (
            {
                "domain": {"devices": {"interfaces": [{"name": "a", "sriov": {}}]}},
                "networks": [{"name": "a", "multus": {"networkName": "b"}}],
            },
            "domain.devices.interfaces[0].sriov",
        ),
        (
            {
                "domain": {"devices": {"interfaces": [{"name": "a", "bridge": {}}]}},
                "networks": [{"name": "a", "multus": {"networkName": "b"}}],
            },
            "networks[0]",
        ),
        (
            {
                "domain": {"devices": {"interfaces": [{"name": "a", "bridge": {}}]}},
                "networks": [{"name": "a", "resourceClaim": {"claimName": "b"}}],
            },
            "networks[0]",
        ),
    ],
)
def test_a_feature_that_is_not_built_is_refused(spec: dict[str, Any], field: str) -> None:
    found = said(of_instance({"spec": spec}, the_rules=Rules()))
    assert any(where == f"spec.{field}" and " yet; " in text for where, text in found)


def test_a_gate_opens_nothing_that_is_not_built() -> None:
    behind = Rules(configuration=rules(gated("DownwardMetrics", "VSOCK")).configuration)
    devices = {"autoattachVSOCK": True, "downwardMetrics": {}}
    found = said(of_instance({"spec": {"domain": {"devices": devices}}}, the_rules=behind))
    assert [text.partition(";")[0] for _, text in found] == [
        "guests cannot be shown the measures of their node yet",
        "guests cannot be reached by vsock yet",
    ]


def test_sidecars_have_a_gate_and_nothing_behind_it() -> None:
    hook = {"metadata": {"annotations": {"hooks.kubevirt.io/hookSidecars": "[]"}}}
    assert said(of_instance(hook)) == [
        (
            "metadata.annotations",
            (
                "sidecar feature gate is not enabled in kubevirt-config, invalid entry "
                "hooks.kubevirt.io/hookSidecars"
            ),
        )
    ]
    closed, behind = Rules(), rules(gated("Sidecar"), built=frozenset())
    assert ["not built yet" in each for _, each in said(of_instance(hook, the_rules=closed))] == [
        False,
        True,
    ]
    (only,) = of_instance(hook, the_rules=behind)
    assert "not built yet" in only.message
