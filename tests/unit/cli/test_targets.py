"""Whom a command is about: names, kinds, users, and what is none of these."""

import pytest

from kubevirt.base.errors import UserError
from kubevirt.cli import targets
from kubevirt.cli.targets import Kind, Target


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("testvm", Target(kind=Kind.VM, name="testvm")),
        ("vm/testvm", Target(kind=Kind.VM, name="testvm")),
        ("vms/testvm", Target(kind=Kind.VM, name="testvm")),
        ("VirtualMachine/testvm", Target(kind=Kind.VM, name="testvm")),
        ("vmi/test.vm/lab", Target(kind=Kind.VMI, name="test.vm", namespace="lab")),
        ("virtualmachineinstances/a", Target(kind=Kind.VMI, name="a")),
    ],
)
def test_a_target_is_read(text: str, found: Target) -> None:
    assert targets.parse(text, Kind.VM) == found


@pytest.mark.parametrize(
    "text", ["", "/", "vm/", "pod/a", "vm/a/", "vm/a/b/c", "Vm_1", "a..b", "-a", "a%2f", "x" * 254]
)
def test_what_is_no_target_is_refused_as_a_wrong_line(text: str) -> None:
    with pytest.raises(UserError) as refused:
        targets.parse(text, Kind.VM)
    assert refused.value.reason == "Usage"


def test_a_user_stands_before_the_last_at_sign() -> None:
    whom = Target(kind=Kind.VMI, name="a")
    assert targets.parse_with_user("jo@vmi/a", Kind.VM) == ("jo", whom)
    assert targets.parse_with_user("jo@corp@a", Kind.VMI) == ("jo@corp", whom)
    assert targets.parse_with_user("vmi/a", Kind.VM) == ("", whom)


def test_a_namespace_of_its_own_wins() -> None:
    assert targets.parse("vm/a/lab", Kind.VM).in_namespace("default").namespace == "lab"
    assert targets.parse("vm/a", Kind.VM).in_namespace("default").namespace == "default"
