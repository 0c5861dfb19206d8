"""Manifests as users hand them in: what is taken, and the one sentence for what is not."""

import json
from pathlib import Path

import pytest
import yaml

from kubevirt.components.launcher.standalone import manifest, network
from kubevirt.components.launcher.standalone.documents import TEXT_LIMIT, ManifestError
from kubevirt.virt.errors import UnsupportedError

EXAMPLE = Path(__file__).parents[3] / "examples" / "standalone" / "vm.yaml"

VMI = """
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: {name: testvm}
spec:
  domain:
    memory: {guest: 64Mi}
    devices: {}
"""


def told(text: str) -> str:
    """Why a manifest is refused."""
    with pytest.raises(ManifestError) as refused:
        manifest.read(text, "vm.yaml")
    return str(refused.value)


def test_of_a_machine_the_template_is_taken_with_the_machines_name() -> None:
    vmi = manifest.read(EXAMPLE.read_text(), "vm.yaml").vmi
    assert (vmi.metadata.name, vmi.metadata.namespace) == ("testvm", "default")
    assert vmi.metadata.labels["kubevirt.io/size"] == "small"
    assert [volume.name for volume in vmi.spec.volumes] == ["rootfs", "cloudinit"]
    assert vmi.metadata.uid


def test_every_run_without_a_uid_gets_another() -> None:
    first, second = (manifest.read(VMI, "vm.yaml").vmi.metadata.uid for _ in range(2))
    assert first != second


def test_a_uid_namespace_and_labels_are_kept() -> None:
    text = VMI.replace(
        "{name: testvm}", "{name: testvm, namespace: here, uid: abc, labels: {a: b}}"
    )
    metadata = manifest.read(text, "vm.yaml").vmi.metadata
    assert (metadata.namespace, metadata.uid, metadata.labels) == ("here", "abc", {"a": "b"})


def test_json_is_read_as_well() -> None:
    text = json.dumps(yaml.safe_load(VMI), indent="\t").replace("\t", "  ")
    assert manifest.read(text, "vm.json").vmi.metadata.name == "testvm"


def test_the_first_fitting_document_of_several_is_run() -> None:
    other = VMI.replace("testvm", "second")
    text = f"apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\n---\n{VMI}---{other}"
    assert manifest.read(text, "vm.yaml").vmi.metadata.name == "testvm"


def test_a_list_is_as_good_as_documents() -> None:
    text = json.dumps({"kind": "List", "items": [yaml.safe_load(VMI)]})
    assert manifest.read(text, "vm.yaml").vmi.metadata.name == "testvm"


def test_an_empty_value_is_an_absent_one() -> None:
    text = VMI.replace("devices: {}", "devices: {disks: null}\n    cpu:")
    assert manifest.read(text, "vm.yaml").vmi.spec.domain.cpu is None


def test_a_date_in_a_label_is_a_text() -> None:
    text = VMI.replace("{name: testvm}", "{name: testvm, labels: {since: 2026-11-15}}")
    assert manifest.read(text, "vm.yaml").vmi.metadata.labels == {"since": "2026-11-15"}


def test_configuration_and_secrets_come_along() -> None:
    text = VMI + (
        "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: text}, "
        "binaryData: {b: AAE=}}\n"
        "---\n{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: c2VjcmV0}, "
        "stringData: {b: plain}}\n"
        "---\n{apiVersion: v1, kind: Secret, metadata: {name: far, namespace: other}}\n"
    )
    found = manifest.read(text, "vm.yaml")
    assert found.config_maps == {"c": {"a": b"text", "b": b"\x00\x01"}}
    assert found.secrets == {"s": {"a": b"secret", "b": b"plain"}}


def test_unknown_fields_are_told_with_their_path_and_do_no_harm() -> None:
    text = EXAMPLE.read_text().replace("masquerade:", "masqerade:").replace("running:", "autorun:")
    found = manifest.read(text, "vm.yaml")
    assert found.warnings == (
        "vm.yaml: spec.autorun is unknown",
        "vm.yaml: spec.template.spec.domain.devices.interfaces[0].masqerade is unknown",
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "a: b: c",
            (
                "vm.yaml is neither YAML nor JSON: mapping values are not allowed in this "
                "context in line 1, column 5"
            ),
        ),
        (
            "just words",
            "vm.yaml holds 'just words' where an object with apiVersion and kind belongs",
        ),
        ("", "vm.yaml has no VirtualMachineInstance and no VirtualMachine, only: nothing"),
        (
            "kind: Pod",
            "vm.yaml has no VirtualMachineInstance and no VirtualMachine, only: Pod",
        ),
        (
            VMI.replace("kubevirt.io/v1", "kubevirt.io/v7"),
            (
                "vm.yaml has a VirtualMachineInstance of apiVersion 'kubevirt.io/v7'; "
                "use kubevirt.io/v1 or kubevirt.io/v1alpha3"
            ),
        ),
        (
            VMI.replace("guest: 64Mi", "guest: [64]"),
            "vm.yaml: spec.domain.memory.guest is wrong: expected int | str | null, got array",
        ),
        (
            VMI.replace("devices: {}", "devices: {disks: {}}"),
            "vm.yaml: spec.domain.devices.disks is wrong: expected array, got object",
        ),
        (
            VMI.replace("spec:", "specs:"),
            "vm.yaml: the object is wrong: object missing required field spec",
        ),
        (
            VMI.replace("testvm", "Test_VM"),
            (
                "vm.yaml: metadata.name 'Test_VM' is no name; use lower-case letters, digits, dashes "
                "and dots, a letter or digit first and last"
            ),
        ),
        (
            VMI.replace("{name: testvm}", "{name: testvm, namespace: ../..}"),
            (
                "vm.yaml: metadata.namespace '../..' is no name; use lower-case letters, digits, "
                "dashes and dots, a letter or digit first and last"
            ),
        ),
        (
            EXAMPLE.read_text().replace("  running: false", "  instancetype: {name: small}"),
            (
                "vm.yaml: spec.instancetype names an object of a cluster, and there is none here; "
                "write cpu and memory into spec.template.spec.domain"
            ),
        ),
        (
            f"{VMI}---\n{{kind: Secret, metadata: {{name: s}}, data: {{a: '?'}}}}",
            "vm.yaml: a of Secret s is no base64; plain text belongs in stringData",
        ),
        ("!!binary aGk=", "vm.yaml uses a YAML tag that no Kubernetes object knows"),
        ("#" * (TEXT_LIMIT + 1), "vm.yaml has more than 4194304 bytes, which is no manifest"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_sentence(text: str, sentence: str) -> None:
    assert told(text) == sentence


def test_a_host_name_that_is_none_never_becomes_a_line_of_a_file() -> None:
    """In the sandbox's /etc/hosts it stood as it was, with line breaks and all."""
    for name in ("a\\n10.0.0.1 b", "-o", "x" * 64, "\\0"):
        said = told(VMI.replace("spec:\n", f'spec:\n  hostname: "{name}"\n'))
        assert "spec.hostname" in said
        assert "is no host name" in said


def test_a_small_file_that_blows_up_is_refused() -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    assert told("\n".join(lines)) == "vm.yaml is too large or too deep for a manifest"


def test_a_network_of_a_cluster_is_refused_with_the_way_out() -> None:
    text = EXAMPLE.read_text().replace("pod: {}", "multus: {networkName: fast}")
    with pytest.raises(UnsupportedError, match=r"only the pod network: write pod: \{\}"):
        network.check(manifest.read(text, "vm.yaml").vmi)


def test_a_binding_of_a_cluster_is_refused_with_the_way_out() -> None:
    text = EXAMPLE.read_text().replace("masquerade: {}", "sriov: {}")
    with pytest.raises(UnsupportedError, match=r"write masquerade: \{\} or bridge: \{\}"):
        network.check(manifest.read(text, "vm.yaml").vmi)


def test_hooks_are_refused_and_not_left_out_in_silence() -> None:
    hooks = "{name: testvm, annotations: {hooks.kubevirt.io/hookSidecars: '[]'}}"
    assert "wants containers beside the launcher" in told(VMI.replace("{name: testvm}", hooks))
