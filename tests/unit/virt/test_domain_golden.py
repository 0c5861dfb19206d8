"""Every noun as it stands in a domain: one golden file each, held against libvirt's own schema."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.unit.virt.domain_cases import FOLDER, WRITE, Case, cases

from kubevirt.virt.domain.domain import Domain
from kubevirt.virt.domain.xml.reading import from_xml
from kubevirt.virt.domain.xml.writing import to_xml

SCHEMA = Path("/usr/share/libvirt/schemas/domain.rng")

each_case = pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)


@each_case
def test_an_instance_becomes_the_domain_of_its_golden_file(case: Case) -> None:
    conversion = case.conversion()
    if WRITE:
        case.golden.write_text(to_xml(conversion.domain))
    assert to_xml(conversion.domain) == case.golden.read_text()
    assert conversion.notes == case.notes


@each_case
def test_a_domain_survives_writing_and_reading(case: Case) -> None:
    domain = case.conversion().domain
    assert from_xml(to_xml(domain), Domain) == domain


@each_case
def test_converting_again_gives_the_same_domain(case: Case) -> None:
    assert case.conversion() == case.conversion()


def test_no_golden_file_is_without_a_case() -> None:
    names = {case.name for case in cases()}
    assert {path.stem for path in FOLDER.glob("*.xml")} == names


@pytest.mark.skipif(not SCHEMA.exists(), reason="libvirt's schema is not installed: libvirt-daemon")
@pytest.mark.skipif(not shutil.which("xmllint"), reason="no xmllint: install libxml2-utils")
def test_golden_domains_fit_the_schema_of_libvirt() -> None:
    """One run for all: reading the schema takes longer than checking against it."""
    version = libvirt_version()
    files = [str(case.golden) for case in cases() if case.needs_libvirt <= version]
    command = ["xmllint", "--noout", "--relaxng", str(SCHEMA), *files]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    assert len(files) > 50


def libvirt_version() -> tuple[int, ...]:
    virsh = shutil.which("virsh")
    if virsh is None:
        return (9, 0)
    text = subprocess.run([virsh, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in re.findall(r"\d+", text))
