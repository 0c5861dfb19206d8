"""virtctl create vm: what each flag writes, and that our own admission takes it."""

import json
from pathlib import Path

import msgspec
import pytest
import yaml
from tests.unit.cli.create_vm_cases import WRITE, Case, cases

from kubevirt.api.machine import VirtualMachine
from kubevirt.cli import exit_codes, main
from kubevirt.virt.validate import machine
from kubevirt.virt.validate.rules import Rules

BUILT = Rules(built=frozenset({"instancetypes", "preferences", "dataVolumes", "agentCredentials"}))
"""What upstream has: a manifest may need it before ours does."""


def virtctl(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main.main(list(words))
    code = ended.value.code
    assert isinstance(code, int)
    return code, *capsys.readouterr()


each_case = pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)


@each_case
def test_a_command_writes_the_manifest_of_its_golden_file(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = virtctl(capsys, *case.words)
    assert code == 0
    if WRITE:
        case.file.write_text(f"{case.headline}\n{out}")
    assert f"{case.headline}\n{out}" == case.file.read_text()


@each_case
def test_a_manifest_is_a_machine_that_admission_takes(case: Case) -> None:
    manifest = case.manifest
    # What an instance type gives is there before a machine is judged.
    manifest["spec"]["template"]["spec"]["domain"].setdefault("memory", {"guest": "1Gi"})
    assert machine.created(msgspec.convert(manifest, VirtualMachine), BUILT) == ()


def test_the_same_manifest_comes_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("create", "vm", "--name", "testvm")
    _, as_yaml, _ = virtctl(capsys, *words)
    _, as_json, _ = virtctl(capsys, *words, "-o", "json")
    assert json.loads(as_json) == yaml.safe_load(as_yaml)


def test_a_name_is_found_where_none_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    _, first, _ = virtctl(capsys, "create", "vm")
    _, second, _ = virtctl(capsys, "create", "vm")
    names = [yaml.safe_load(each)["metadata"]["name"] for each in (first, second)]
    assert names[0] != names[1]
    assert all(name.startswith("vm-") and len(name) == 8 for name in names)


def test_a_password_comes_from_a_file_and_is_warned_of(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "password"
    file.write_text("gocubsgo: 1\n")
    _, out, err = virtctl(capsys, "create", "vm", "--user", "jo", "--password-file", str(file))
    (volume,) = yaml.safe_load(out)["spec"]["template"]["spec"]["volumes"]
    written = yaml.safe_load(volume["cloudInitNoCloud"]["userData"])
    assert written == {"user": "jo", "password": "gocubsgo: 1", "chpasswd": {"expire": False}}
    assert "for everybody who may read it" in err


def test_an_old_flag_is_warned_of_beside_the_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = virtctl(capsys, "create", "vm", "--volume-blank", "size:1Gi")
    assert yaml.safe_load(out)["kind"] == "VirtualMachine"
    assert "Flag --volume-blank has been deprecated, use flag --volume-import instead" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--run-strategy Sometimes", "--run-strategy"),
        ("--memory lots", "--memory"),
        ("--name A_B", "cannot be a name"),
        ("--volume-containerdisk name:x", "src is missing"),
        ("--volume-containerdisk src:x,colour:red", "no parameter 'colour'"),
        ("--volume-containerdisk x", "NAME:VALUE"),
        ("--volume-containerdisk src:x,src:y", "src is there twice"),
        ("--volume-containerdisk src:x,bootorder:0", "bootorder"),
        (
            "--volume-containerdisk src:x,bootorder:1 --volume-pvc src:y,bootorder:1",
            "is there twice",
        ),
        ("--volume-pvc src:lab/x", "leave lab/ out"),
        ("--volume-pvc src:x --volume-pvc src:x", "already a volume"),
        ("--volume-import size:1Gi", "type is missing"),
        ("--volume-import type:moon,size:1Gi", "no type 'moon'"),
        ("--volume-import type:blank", "size is missing"),
        ("--volume-import type:blank,size:big", "--volume-import"),
        ("--volume-import type:http,size:1Gi", "url is missing"),
        ("--volume-import type:pvc,src:x", "namespace of the claim x"),
        ("--volume-import type:registry,size:1Gi", "either url or imagestream"),
        ("--volume-import type:registry,size:1Gi,url:x,pullmethod:me", "pullmethod"),
        ("--volume-sysprep src:x,type:pod", "configMap or secret"),
        ("--access-cred src:x", "whose keys"),
        ("--access-cred src:x,type:key", "ssh or password"),
        ("--access-cred src:x,type:password,method:nocloud", "ga"),
        ("--access-cred src:x,method:nocloud,user:jo", "only for ssh keys"),
        (
            "--access-cred src:x,method:nocloud --cloud-init configdrive",
            "needs --cloud-init nocloud",
        ),
        ("--cloud-init cd", "no kind 'cd'"),
        ("--cloud-init-user-data %%%", "not base64"),
        ("--cloud-init-user-data eA== --user jo", "use one of"),
        ("--memory 1Gi --instancetype small", "use one of"),
        ("--preference x --infer-preference", "use one of"),
        ("--instancetype pod/x", "no kind 'pod'"),
        ("--infer-instancetype", "no volume"),
        ("--infer-instancetype-from x --volume-pvc src:y", "no volume with name 'x'"),
        ("--infer-preference --volume-containerdisk src:x", "cannot be inferred"),
        ("--infer-preference --volume-import type:blank,size:1Gi", "says nothing"),
    ],
)
def test_what_cannot_be_is_said_in_the_flags_name(
    capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:
    code, out, err = virtctl(capsys, "create", "vm", *words.split())
    assert (code, out) == (exit_codes.USAGE, "")
    assert said in err
    assert err.count("\n") == 1
