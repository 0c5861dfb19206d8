"""libvirt itself takes every golden domain, and what it makes of it can be read again.

The test driver parses and validates as the QEMU driver does, and starts nothing.
"""

import re
import shutil
import subprocess

import pytest
from tests.unit.virt.domain_cases import Case, cases

from kubevirt.virt.domain.domain import Domain
from kubevirt.virt.domain.xml.reading import from_xml

pytestmark = pytest.mark.skipif(
    not shutil.which("virsh"), reason="no virsh: install libvirt-clients and libvirt-daemon"
)


def virsh(*commands: str) -> str:
    """Commands in one connection: the test driver forgets everything when it ends."""
    line = ["virsh", "--quiet", "--connect", "test:///default", "; ".join(commands)]
    result = subprocess.run(line, capture_output=True, text=True, timeout=30, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def version() -> tuple[int, ...]:
    found = subprocess.run(["virsh", "--version"], capture_output=True, text=True, check=True)
    return tuple(int(part) for part in re.findall(r"\d+", found.stdout))


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_libvirt_accepts_the_domain_and_keeps_what_we_wrote(case: Case) -> None:
    if case.needs_libvirt > version():
        needed = ".".join(map(str, case.needs_libvirt))
        pytest.skip(f"this noun needs libvirt {needed}")
    text = virsh(f"define --validate {case.golden}", "dumpxml default_testvm --inactive")
    ours, theirs = from_xml(case.golden.read_bytes(), Domain), from_xml(text, Domain)
    assert theirs.name == ours.name
    assert theirs.uuid == ours.uuid
    assert theirs.metadata == ours.metadata
    assert theirs.os.kernel == ours.os.kernel
    assert theirs.cpu is not None
    assert ours.cpu is not None
    assert theirs.cpu.mode == ours.cpu.mode
    assert theirs.cpu.topology == ours.cpu.topology
    assert set(theirs.cpu.features) == set(ours.cpu.features)
    assert aliases(theirs) == aliases(ours)
    assert [card.mac for card in theirs.devices.interfaces] == [
        card.mac for card in ours.devices.interfaces
    ]


def aliases(domain: Domain) -> dict[str, str | None]:
    """The names of disks by target; libvirt sorts disks as it likes."""
    return {
        disk.target.dev: disk.alias.name if disk.alias else None for disk in domain.devices.disks
    }
