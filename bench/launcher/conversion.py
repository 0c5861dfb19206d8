"""VMI to XML in this very process: the pure part, without anything that touches the machine."""

import time

import msgspec

from bench.launcher.guest import instance
from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.virt.convert.conversion import convert
from kubevirt.virt.convert.facts import BackingFacts, Facts, InterfaceFacts, VolumeFacts
from kubevirt.virt.defaults.instance import with_defaults
from kubevirt.virt.domain.xml.writing import to_xml

UID = "6c1b1e3c-0000-4000-8000-00000000abcd"
FACTS = Facts(
    volumes={
        "rootfs": VolumeFacts(
            format="qcow2", backing=BackingFacts(path="/disks/disk_0.img", format="qcow2")
        )
    },
    interfaces={"default": InterfaceFacts(tap="tap0", mac="02:00:00:00:01:01", mtu=1450)},
)


def conversions(times: int) -> list[float]:
    """Seconds of each, from the JSON that a handler sends to the XML that libvirt gets."""
    sent = msgspec.json.encode(instance(UID))
    return [_once(sent) for _ in range(times)]


def _once(sent: bytes) -> float:
    began = time.perf_counter()
    vmi = with_defaults(
        msgspec.json.decode(sent, type=VirtualMachineInstance), KubeVirtConfiguration()
    )
    to_xml(convert(vmi, FACTS).domain)
    return time.perf_counter() - began
