"""The KubeVirt object: nothing of it is in vain without a word."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given
from tests.unit.virt.validate.any_spec import objects

import kubevirt
from kubevirt.api.installation import KubeVirt, KubeVirtSpec
from kubevirt.api.struct import Struct
from kubevirt.virt import gates
from kubevirt.virt.validate.installation import EFFECTIVE, IN_VAIN, warnings

SOURCE = Path(kubevirt.__file__).parent
SAME_AS_EVER = {"runtime_default_profile"}
"""Asks for what is so anyway, and so is read by nobody."""
REFUSED_EITHER_WAY = {"DownwardMetrics", "HostDevices", "Sidecar", "VSOCK"}


def a_kubevirt(**spec: Any) -> KubeVirt:
    return msgspec.convert({"spec": spec}, KubeVirt)


def configured(**configuration: Any) -> KubeVirt:
    return a_kubevirt(configuration=configuration)


def developed(**developer: Any) -> KubeVirt:
    return configured(developerConfiguration=developer)


def structs_in(annotation: Any) -> Iterator[type[Struct]]:
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        yield annotation
    for each in get_args(annotation):
        yield from structs_in(each)


def settings_of(kind: type[Struct], above: str = "") -> Iterator[tuple[str, bool]]:
    """Every setting as a path: whole ones of the tables, and parts where only parts are in them."""
    hints = get_type_hints(kind, include_extras=True)
    for field in msgspec.structs.fields(kind):
        path = f"{above}{field.encode_name}"
        is_known = path in EFFECTIVE or path in IN_VAIN
        parts = list(structs_in(hints[field.name]))
        if is_known or not parts:
            yield path, is_known
        for part in () if is_known else parts:
            yield from settings_of(part, f"{path}.")


def test_every_setting_either_acts_or_is_warned_of() -> None:
    settings = dict(settings_of(KubeVirtSpec))
    assert [path for path, is_known in settings.items() if not is_known] == []
    assert set(settings) == EFFECTIVE | set(IN_VAIN)
    assert not EFFECTIVE & set(IN_VAIN)


def names_read(folders: Iterator[Path]) -> set[str]:
    trees = (ast.parse(each.read_text()) for each in folders)
    nodes = [node for tree in trees for node in ast.walk(tree)]
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    words = {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and node.value.__class__ is str
    }
    return attributes | words


def leaves(kind: type[Struct], above: str = "") -> Iterator[tuple[str, str]]:
    hints = get_type_hints(kind, include_extras=True)
    for field in msgspec.structs.fields(kind):
        path = f"{above}{field.encode_name}"
        yield path, field.name
        for part in structs_in(hints[field.name]):
            yield from leaves(part, f"{path}.")


def test_what_is_said_to_act_is_read_somewhere() -> None:
    folders = (SOURCE / "virt", SOURCE / "components")
    files = (each for folder in folders for each in folder.rglob("*.py"))
    read = names_read(each for each in files if each.name != "installation.py") | SAME_AS_EVER
    unread = [
        path
        for path, name in leaves(KubeVirtSpec)
        if any(path == each or path.startswith(f"{each}.") for each in EFFECTIVE)
        if name not in read
    ]
    assert unread == []


def test_every_gate_that_is_asked_for_is_known() -> None:
    asked = set()
    for file in (SOURCE / "virt").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"gate", "is_on"}:
                asked |= {
                    each.value if isinstance(each, ast.Constant) else getattr(gates, name_of(each))
                    for each in node.args[-1:]
                    if isinstance(each, ast.Constant) or name_of(each).isupper()
                }
    assert asked == gates.ASKED_FOR | REFUSED_EITHER_WAY
    assert gates.ON_BY_DEFAULT <= gates.ASKED_FOR


def name_of(node: ast.expr) -> str:
    return str(getattr(node, "attr", None) or getattr(node, "id", ""))


@pytest.mark.parametrize(
    ("new", "start"),
    [
        (
            configured(migrations={"parallelMigrationsPerCluster": 3}),
            "spec.configuration.migrations has no effect here: live migration is not built yet",
        ),
        (
            configured(commonInstancetypesDeployment={}),
            "spec.configuration.commonInstancetypesDeployment has no effect here: ",
        ),
        (
            configured(ksmConfiguration={"nodeLabelSelector": {}}),
            "spec.configuration.ksmConfiguration has no effect here: nodes stay as they are",
        ),
        (
            configured(evictionStrategy="LiveMigrate"),
            "spec.configuration.evictionStrategy LiveMigrate has no effect here: live migration",
        ),
        (
            configured(supportContainerResources=[{"type": "vmexport", "resources": {}}]),
            "spec.configuration.supportContainerResources[vmexport] has no effect here: there are",
        ),
        (
            developed(featureGates=["HostDisk", "Root"]),
            (
                "spec.configuration.developerConfiguration.featureGates Root has no effect here: "
                "launchers are never root"
            ),
        ),
        (
            developed(disabledFeatureGates=["ImageVolume", "Snapshot"]),
            (
                "spec.configuration.developerConfiguration.disabledFeatureGates Snapshot has no "
                "effect here: nothing is behind that gate"
            ),
        ),
        (developed(logVerbosity={"virtOperator": 5}), "spec.configuration.developerConfiguration"),
        (a_kubevirt(imageTag="v1.9.0"), "spec.imageTag has no effect here: virt-operator is not"),
        (
            a_kubevirt(certificateRotateStrategy={"selfSigned": {"ca": {"duration": "48h"}}}),
            "spec.certificateRotateStrategy has no effect here",
        ),
    ],
)
def test_what_does_nothing_is_warned_of_once(new: KubeVirt, start: str) -> None:
    (warning,) = warnings(None, new)
    assert warning.startswith(start)
    # The server cuts longer ones.
    assert len(warning) <= 256
    assert warnings(new, new) == ()


@pytest.mark.parametrize(
    "new",
    [
        a_kubevirt(),
        configured(evictionStrategy="None", machineType="q35", cpuModel="Nehalem"),
        configured(commonInstancetypesDeployment={"enabled": False}),
        configured(supportContainerResources=[{"type": "container-disk", "resources": {}}]),
        developed(useEmulation=True, featureGates=["HostDisk"], logVerbosity={"virtAPI": 4}),
    ],
)
def test_what_acts_or_asks_for_nothing_needs_no_word(new: KubeVirt) -> None:
    assert warnings(None, new) == ()


@given(objects(KubeVirtSpec), objects(KubeVirtSpec))
def test_whatever_is_written_is_read(old: dict[str, Any], new: dict[str, Any]) -> None:
    def read(spec: dict[str, Any]) -> KubeVirt | None:
        try:
            return a_kubevirt(**spec)
        except msgspec.ValidationError:
            return None

    after = read(new)
    if after is not None:
        assert all(each.isprintable() for each in warnings(read(old), after))
