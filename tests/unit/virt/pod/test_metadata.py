"""Names, labels, annotations, owner."""

import pytest
from tests.unit.virt.pod.cases import UID, a_pod, spec_of

from kubevirt.virt.errors import SpecError


def test_a_pod_belongs_to_its_instance() -> None:
    meta = a_pod().metadata
    (owner,) = meta.owner_references
    assert (owner.kind, owner.name, owner.uid) == ("VirtualMachineInstance", "testvm", UID)
    assert owner.controller
    assert owner.block_owner_deletion
    assert (meta.namespace, meta.generate_name) == ("default", "virt-launcher-testvm-")


def test_labels_of_an_instance_are_on_its_pod_but_cannot_replace_ours() -> None:
    stolen = {"app": "web", "kubevirt.io": "virt-handler", "kubevirt.io/created-by": "another"}
    assert a_pod(metadata={"labels": stolen}).metadata.labels == {
        "app": "web",
        "kubevirt.io": "virt-launcher",
        "kubevirt.io/created-by": UID,
        "vm.kubevirt.io/name": "testvm",
        "vmi.kubevirt.io/id": "testvm",
    }


def test_annotations_of_an_instance_are_on_its_pod_without_those_about_the_instance_itself() -> (
    None
):
    given = {
        "example.com/team": "a",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "kubevirt.io/latest-observed-api-version": "v1",
        "kubevirt.io/storage-observed-api-version": "v1",
        "kubevirt.io/domain": "another",
    }
    annotations = a_pod(metadata={"annotations": given}).metadata.annotations
    overhead = annotations["kubevirt.io/memory-overhead-bytes"]
    assert int(overhead) > 0
    assert annotations == {
        "example.com/team": "a",
        "kubevirt.io/domain": "testvm",
        "kubectl.kubernetes.io/default-container": "compute",
        "kubevirt.io/memory-overhead-bytes": overhead,
    }


def test_long_names_fit_into_labels_and_stay_apart() -> None:
    long = "a" * 80
    ids = {
        a_pod(metadata={"name": f"{long}{end}"}).metadata.labels["vmi.kubevirt.io/id"]
        for end in "xy"
    }
    assert len(ids) == 2
    assert all(len(each) <= 63 for each in ids)


def test_a_name_with_dots_is_whole_in_the_label_and_its_first_part_the_host_name() -> None:
    pod = a_pod(metadata={"name": "web.example"})
    assert pod.metadata.labels["vmi.kubevirt.io/id"] == "web.example"
    assert spec_of(pod).hostname == "web"


def test_host_name_and_subdomain_are_the_pods() -> None:
    spec = spec_of(a_pod({"hostname": "web", "subdomain": "site"}))
    assert (spec.hostname, spec.subdomain) == ("web", "site")


@pytest.mark.parametrize("name", ["Web", "-web", "web site", "w" * 64, "web.example"])
def test_a_host_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(SpecError, match="cannot be a name in a pod"):
        a_pod({"hostname": name})


def test_the_same_instance_gives_the_same_pod() -> None:
    assert a_pod() == a_pod()
