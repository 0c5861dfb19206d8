"""What QEMU is told: whatever a manifest says, libvirt gives QEMU the same options with the same fields, and only values
differ.

libvirt itself writes the command line here, as it would for a guest that starts, and starts nothing.
"""

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tests.component.host.libvirt_world import needs_libvirt, world
from tests.property.hostile import NASTY, check_sentence
from tests.unit.virt.domain_cases import SMALL_GUEST, facts_for, merged

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.errors import UserError
from kubevirt.host.libvirt.connection import Caller
from kubevirt.host.libvirt.errors import LibvirtError
from kubevirt.virt.convert.conversion import convert
from kubevirt.virt.defaults.instance import with_defaults
from kubevirt.virt.domain.xml.writing import to_xml

pytestmark = needs_libvirt

CLEAN = "plain"


def texts_of(word: str) -> dict[str, str]:
    """Where a manifest has any text that QEMU is told of, by what it is."""
    places = ("manufacturer", "version", "serial", "asset", "sku", "product-serial", "arguments")
    return {**dict.fromkeys(places, word), "disk-serial": word, "image": f"/images/{word}"}


def domain_of(texts: dict[str, str]) -> str:
    chassis = {name: texts[name] for name in ("manufacturer", "version", "serial", "asset", "sku")}
    boot = {
        "kernelArgs": texts["arguments"],
        "container": {"image": "i", "kernelPath": "/vmlinuz"},
    }
    spec = {
        "domain": {
            "chassis": chassis,
            "firmware": {"serial": texts["product-serial"], "kernelBoot": boot},
            "devices": {
                "disks": [
                    {"name": "root", "disk": {"bus": "virtio"}, "serial": texts["disk-serial"]}
                ],
            },
        },
        "volumes": [{"name": "root", "containerDisk": {"image": "i"}}],
    }
    vmi = msgspec.convert(merged(SMALL_GUEST, {"spec": spec}), VirtualMachineInstance)
    backing = {"path": texts["image"], "format": "qcow2"}
    facts = facts_for(vmi, {"volumes": {"root": {"backing": backing}}})
    return to_xml(convert(with_defaults(vmi, KubeVirtConfiguration()), facts).domain)


async def words_of(virt: Caller, domain: str) -> list[str]:
    """QEMU's command line, without its environment."""
    line = await virt.call(
        "write QEMU's command line", lambda it: it.domainXMLToNative("qemu-argv", domain)
    )
    words = shlex.split(line)
    start = next(number for number, word in enumerate(words) if word.endswith("qemu-system-x86_64"))
    return words[start + 1 :]


def form_of(words: list[str]) -> list[Any]:
    """Of a command line all but the values: options in their order, with the names of their fields."""
    return [word if word.startswith("-") else fields_of(word) for word in shielded(words)]


def shielded(words: list[str]) -> Iterator[str]:
    """The kernel's arguments are one value, whatever they look like."""
    before = ""
    for word in words:
        yield "a value" if before == "-append" else word
        before = word


def fields_of(word: str) -> Any:
    """As QEMU splits it: JSON, or fields between commas, where two commas are one that belongs to a value."""
    if word.startswith("{"):
        return names_in(json.loads(word))
    parts = re.split(r"(?<!,)(?:,,)*,(?!,)", word)
    return [part.partition("=")[0] for part in parts if "=" in part]


def names_in(value: Any) -> Any:
    match value:
        case dict():
            return {name: names_in(each) for name, each in value.items()}
        case list():
            return [names_in(each) for each in value]
        case _:
            return None


async def test_no_text_of_a_manifest_becomes_a_word_or_a_field_of_qemus_command_line() -> None:
    accepted = 0
    async with world() as it:
        await it.start_daemon()
        async with it.hypervisor() as virt:
            clean = form_of(await words_of(virt, domain_of(texts_of(CLEAN))))
            assert [
                option for option in ("-append", "-smbios", "-blockdev") if option in clean
            ] == ["-append", "-smbios", "-blockdev"]
            for nasty in filter(None, NASTY):  # a text that is not there is another manifest
                for place in texts_of(CLEAN):
                    texts = {**texts_of(CLEAN), place: texts_of(nasty)[place]}
                    try:
                        words = await words_of(virt, domain_of(texts))
                    except LibvirtError:
                        continue  # it refuses what it cannot write
                    except UserError as refusal:
                        check_sentence(refusal)
                        continue
                    assert form_of(words) == clean, (place, nasty)
                    accepted += 1
    assert accepted > len(NASTY), "most places take most texts"


@pytest.mark.parametrize(
    ("word", "fields"),
    [
        ("type=1,serial=a,,b=c,uuid=x", ["type", "serial", "uuid"]),
        ('{"driver":"file","filename":"a,b=c"}', {"driver": None, "filename": None}),
        ("pc-q35-7.2,usb=off", ["usb"]),
    ],
)
def test_fields_are_told_from_values_as_qemu_does(word: str, fields: Any) -> None:
    assert fields_of(word) == fields
