"""No VMI can leave its place: what a user writes is a value in the domain, never a part of it."""

from typing import Any
from xml.etree import ElementTree as ET

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.hostile import check_sentence, spoiled
from tests.unit.virt.domain_cases import SMALL_GUEST, cases, facts_for, merged

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.domain import DomainSpec
from kubevirt.api.instance import VirtualMachineInstance, VirtualMachineInstanceSpec
from kubevirt.base.errors import UserError
from kubevirt.testing.random_objects import objects_of
from kubevirt.virt.convert.conversion import convert
from kubevirt.virt.convert.facts import Facts
from kubevirt.virt.defaults.instance import with_defaults
from kubevirt.virt.domain.domain import Domain
from kubevirt.virt.domain.xml.element import Element
from kubevirt.virt.domain.xml.reading import from_xml
from kubevirt.virt.domain.xml.shape import Child, shape_of
from kubevirt.virt.domain.xml.writing import to_xml

GOOD = {case.name: case for case in cases()}
spoiled_cases = st.sampled_from(sorted(GOOD)).flatmap(
    lambda name: st.tuples(
        st.just(name), spoiled(st.just(msgspec.to_builtins(GOOD[name].vmi, str_keys=True)))
    )
)


def domain_of(vmi: VirtualMachineInstance, facts: Facts) -> Domain | None:
    """The domain, or None if the instance was refused as it should be."""
    try:
        return convert(with_defaults(vmi, KubeVirtConfiguration()), facts).domain
    except UserError as refusal:
        check_sentence(refusal)
        return None


def written(domain: Domain) -> str | None:
    try:
        return to_xml(domain)
    except UserError as refusal:
        check_sentence(refusal)
        return None


def names_in(value: Element, name: str = "domain") -> list[str]:
    """Names of the elements that a value stands for, in order."""
    found = [name]
    for part in shape_of(type(value)).parts:
        content: Any = getattr(value, part.field)
        if content is None or content is False or content == ():
            continue
        for each in content if part.repeats else (content,):
            found += names_in(each, part.name) if isinstance(part, Child) else [part.name]
    return found


def names_in_xml(text: str) -> list[str]:
    return [element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()]


@given(spoiled_cases)
@settings(max_examples=300)
def test_hostile_texts_stay_values(example: tuple[str, tuple[Any, tuple[str, ...]]]) -> None:
    name, (data, words) = example
    vmi = msgspec.convert(data, VirtualMachineInstance)
    domain = domain_of(vmi, GOOD[name].facts)
    text = written(domain) if domain else None
    if not domain or not text:
        return
    assert names_in_xml(text) == names_in(domain)
    assert from_xml(text, Domain) == domain
    # A hostile word is found as a whole value, or inside one, but nowhere between values.
    values = " ".join(
        [*ET.fromstring(text).itertext()]
        + [value for each in ET.fromstring(text).iter() for value in each.attrib.values()]
    )
    for word in words:
        if len(word) > 5 and word in text:
            assert word in values


@given(spoiled_cases)
@settings(max_examples=200)
def test_paths_stay_in_their_folders(example: tuple[str, tuple[Any, tuple[str, ...]]]) -> None:
    name, (data, _) = example
    vmi = msgspec.convert(data, VirtualMachineInstance)
    domain = domain_of(vmi, GOOD[name].facts)
    if domain is None:
        return
    for disk in domain.devices.disks:
        if disk.source:
            path = disk.source.file or disk.source.dev or ""
            assert ".." not in path.split("/")
    sockets = [serial.source.path for serial in domain.devices.serials if serial.source]
    sockets += [each.listen.socket for each in domain.devices.graphics if each.listen]
    assert all(socket and socket.count("/") == 5 for socket in sockets)


FREE_TEXTS: Any = {
    "metadata": {"labels": {"a": "x"}, "annotations": {"b": "y"}},
    "spec": {
        "hostname": "guest",
        "domain": {
            "chassis": {
                "manufacturer": "m",
                "version": "v",
                "serial": "s",
                "asset": "a",
                "sku": "k",
            },
            "clock": {"timezone": "UTC"},
            "cpu": {"model": "Haswell", "features": [{"name": "aes"}]},
            "features": {"hyperv": {"vendorid": {"vendorid": "v"}}},
            "firmware": {
                "serial": "s",
                "bootloader": {"efi": {"secureBoot": False}},
                "kernelBoot": {
                    "kernelArgs": "quiet",
                    "container": {"image": "i", "kernelPath": "/vmlinuz"},
                },
            },
            "launchSecurity": {"sev": {"dhCert": "c", "session": "s"}},
            "devices": {"gpus": [{"name": "card", "deviceName": "d", "tag": "t"}]},
        },
        "volumes": [
            {"name": "root", "containerDisk": {"image": "i", "path": "/disk/x.qcow2"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "c"}},
            {"name": "init", "cloudInitNoCloud": {"userData": "u"}},
        ],
    },
}
KEPT = {"name", "namespace", "uid", "uuid", "kernelPath", "guest"}
"""Names and paths have alphabets; who leaves them is refused. All else may be any text."""
free_texts = spoiled(
    st.just(merged(SMALL_GUEST, FREE_TEXTS)), only=lambda path: path[-1] not in KEPT
)
FACTS = {
    "host": {"kvm": True},
    "host_devices": {"card": {"kind": "pci", "address": "0000:65:00.0"}},
}


@given(free_texts)
@settings(max_examples=200)
def test_free_texts_stand_in_the_domain_as_they_are(example: tuple[Any, tuple[str, ...]]) -> None:
    vmi = msgspec.convert(example[0], VirtualMachineInstance)
    domain = convert(with_defaults(vmi, KubeVirtConfiguration()), facts_for(vmi, FACTS)).domain
    text = written(domain)
    if text is None:
        return
    assert names_in_xml(text) == names_in(domain)
    assert from_xml(text, Domain) == domain
    assert domain.os.cmdline == example[0]["spec"]["domain"]["firmware"]["kernelBoot"]["kernelArgs"]


random_specs = objects_of(VirtualMachineInstanceSpec)
random_domains = objects_of(DomainSpec)


@given(random_specs, random_domains)
@settings(max_examples=300)
def test_any_instance_is_converted_or_refused(spec: dict[str, Any], domain: dict[str, Any]) -> None:
    """Random ones are mostly nonsense; but nonsense is the user's error, never ours."""
    base = {
        "metadata": {"name": "testvm", "namespace": "default", "uid": "u-1"},
        "spec": {"architecture": "amd64"},
    }
    domain = merged(domain, {"memory": {"guest": "64Mi", "hugepages": None, "maxGuest": None}})
    data = merged({"spec": {**spec, "domain": domain}}, base)
    try:
        vmi = with_defaults(msgspec.convert(data, VirtualMachineInstance), KubeVirtConfiguration())
    except UserError as refusal:
        check_sentence(refusal)
        return
    found = domain_of(vmi, facts_for(vmi, {}))
    text = written(found) if found else None
    if found and text:
        assert from_xml(text, Domain) == found
