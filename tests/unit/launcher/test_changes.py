"""Only what may change while a guest runs is changed, and only if it differs."""

import json

import pytest

from kubevirt.base.errors import UserError
from kubevirt.components.launcher.changes import changed_links, disks_of_claims
from kubevirt.components.launcher.wish import Wish, wish_in
from kubevirt.virt.domain.domain import Domain
from kubevirt.virt.domain.xml.reading import from_xml


def running(link: str = "") -> Domain:
    return from_xml(
        f"""<domain type='qemu'><name>x</name><memory unit='b'>1</memory>
        <os><type arch='x86_64' machine='q35'>hvm</type></os>
        <devices><interface type='ethernet'>{link}<alias name='ua-default'/></interface>
        <interface type='ethernet'><alias name='net1'/></interface></devices></domain>""",
        Domain,
    )


def wish(state: str | None, name: str = "default") -> Wish:
    card: dict[str, object] = {"name": name, "state": state, "bridge": {}}
    spec = {"domain": {"devices": {"interfaces": [card]}, "future": 1}}
    return wish_in(json.dumps({"spec": spec}).encode())


DOWN = "<link state='down'/>"
UP = "<link state='up'/>"


@pytest.mark.parametrize(
    ("link", "state", "becomes"),
    [
        ("", None, None),
        ("", "up", None),
        ("", "down", "down"),
        (DOWN, "down", None),
        (DOWN, "up", "up"),
        (DOWN, None, "up"),
        (UP, "down", "down"),
        (UP, "absent", None),
    ],
)
def test_a_cable_follows_the_spec(link: str, state: str | None, becomes: str | None) -> None:
    changed = [card.link and card.link.state for card in changed_links(running(link), wish(state))]
    assert changed == ([becomes] if becomes else [])


def test_a_card_that_the_spec_does_not_name_is_left_alone() -> None:
    assert not list(changed_links(running(), wish("down", "other")))


DISKS = """<domain type='qemu'><name>x</name><memory unit='b'>1</memory>
    <os><type arch='x86_64' machine='q35'>hvm</type></os><devices>
    <disk type='file' device='disk'><driver type='raw'/><source file='/a'/><target dev='vda'/>
      <alias name='ua-data'/></disk>
    <disk type='file' device='disk'><driver type='qcow2'/><source file='/b'/><target dev='vdb'/>
      <alias name='ua-overlay'/></disk>
    <disk type='file' device='disk'><driver type='raw'/><source file='/c'/><target dev='vdc'/>
      <readonly/><alias name='ua-read'/></disk>
    <disk type='file' device='cdrom'><driver type='raw'/><source file='/d'/><target dev='sda'/>
      <alias name='ua-disc'/></disk>
    <disk type='file' device='disk'><driver type='raw'/><source file='/e'/><target dev='vdd'/>
      <alias name='ua-scratch'/></disk>
    <disk type='block' device='disk'><driver type='raw'/><source dev='/f'/><target dev='vde'/>
      <alias name='ua-block'/></disk></devices></domain>"""


def test_of_disks_those_grow_that_are_claims_and_are_written_to() -> None:
    """A scratch disk has no claim; an overlay is as large as what lies below it."""
    infos = {name: {"capacity": {"storage": "8Mi"}} for name in ("data", "overlay", "read", "disc")}
    states = [
        {"name": name, "persistentVolumeClaimInfo": info, "target": ""}
        for name, info in {**infos, "block": {"volumeMode": "Block"}}.items()
    ]
    instance = {
        "spec": {"domain": {}},
        "status": {"volumeStatus": [*states, {"name": "scratch", "target": ""}]},
    }
    found = disks_of_claims(from_xml(DISKS, Domain), wish_in(json.dumps(instance).encode()))
    assert [(disk.target.dev, claim) for disk, claim in found] == [("vda", "8Mi"), ("vde", None)]


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"spec": {"domain": 1}}', b"\xff"])
def test_what_is_no_instance_is_refused_in_one_sentence(text: bytes) -> None:
    with pytest.raises(UserError, match=r"^the instance cannot be understood: "):
        wish_in(text)


def test_a_guest_starts_paused_only_if_it_says_so() -> None:
    spec = {"domain": {}, "startStrategy": "Paused"}
    assert wish_in(json.dumps({"spec": spec}).encode()).starts_paused
    assert not wish(None).starts_paused
