"""Hostile volumes: files stay in their folders, names stay names, data stays data."""

import json
import posixpath
import string
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.hostile import check_sentence, spoiled, texts
from tests.unit.virt.domain_cases import a_vmi
from tests.unit.virt.test_volume_plans import EVERY_DISK

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.errors import UserError
from kubevirt.virt.layout import Layout
from kubevirt.virt.volumes.folders import folders_to_read
from kubevirt.virt.volumes.plan import IsoImage, Overlay
from kubevirt.virt.volumes.planning import Contents, plan_volumes

KEY = {"propagationMethod": {"noCloud": {}}, "source": {"secret": {"secretName": "keys"}}}
GUEST: Any = msgspec.to_builtins(
    a_vmi(
        {
            "spec": {
                "volumes": EVERY_DISK,
                "hostname": "guest",
                "accessCredentials": [{"sshPublicKey": KEY}],
            }
        }
    )
)
LAYOUT = Layout()
FOLDERS = (LAYOUT.private, LAYOUT.share, LAYOUT.ephemeral, LAYOUT.devices, LAYOUT.service_account)

files = st.dictionaries(texts | st.just("autounattend.xml"), st.binary(max_size=20), max_size=3)


def is_inside(path: str) -> bool:
    return posixpath.normpath(path) == path and path.startswith(tuple(f"{f}/" for f in FOLDERS))


@given(
    spoiled(st.just(GUEST)), st.dictionaries(texts | st.just("config"), files, max_size=3), files
)
@settings(max_examples=300)
def test_files_stay_in_their_folders(
    example: tuple[Any, tuple[str, ...]],
    contents: dict[str, dict[str, bytes]],
    keys: dict[str, bytes],
) -> None:
    vmi = msgspec.convert(example[0], VirtualMachineInstance)
    answers = {"sysprep": {"autounattend.xml": b""}}
    read = Contents(volumes=answers | contents, credentials={"keys": keys})
    try:
        plans = plan_volumes(vmi, LAYOUT, read)
        folders = folders_to_read(vmi, LAYOUT)
    except UserError as refusal:
        check_sentence(refusal)
        return
    for plan in plans:
        assert is_inside(plan.path)
        if isinstance(plan, Overlay):
            assert is_inside(plan.backing)
        if isinstance(plan, IsoImage):
            assert plan.label.isascii()
            assert len(plan.label) <= 32
            for name in plan.files:
                assert posixpath.normpath(name) == name
                assert not name.startswith(("/", ".."))
    for folder in folders:
        assert is_inside(folder.path) or folder.path == LAYOUT.service_account


@given(files, texts)
def test_images_hold_files_at_their_top_only(found: dict[str, bytes], label: str) -> None:
    source = {"name": "config", "configMap": {"name": "x", "volumeLabel": label}}
    try:
        (plan,) = plan_volumes(
            a_vmi({"spec": {"volumes": [source]}}), LAYOUT, Contents(volumes={"config": found})
        )
    except UserError as refusal:
        check_sentence(refusal)
        return
    assert isinstance(plan, IsoImage)
    assert plan.files == found
    assert not any({"/", "\0", "\n"} & set(name) or name in {"", ".", ".."} for name in plan.files)
    assert set(plan.label) <= set(string.ascii_letters + string.digits + "_.+-")


@given(texts, texts, st.binary(max_size=50))
def test_metadata_says_what_it_was_told(hostname: str, namespace: str, key: bytes) -> None:
    vmi = a_vmi(
        {
            "metadata": {"namespace": namespace},
            "spec": {
                "hostname": hostname,
                "volumes": [{"name": "init", "cloudInitNoCloud": {"userData": "x"}}],
                "accessCredentials": [{"sshPublicKey": KEY}],
            },
        }
    )
    try:
        (plan,) = plan_volumes(vmi, LAYOUT, Contents(credentials={"keys": {"key": key}}))
    except UserError:
        return
    assert isinstance(plan, IsoImage)
    found = json.loads(plan.files["meta-data"])
    assert found["local-hostname"] == (hostname or "testvm")
    keys = [key.decode().strip()] if key.strip() else []
    assert list(found.get("public-keys", {}).values()) == [each for each in keys if each]
