"""The table of calls, held against the roles that give the rights to them."""

import pytest

from kubevirt.virt.commands.calls import BUILT, CALLS, EXPAND, Call
from kubevirt.virt.install import people
from kubevirt.virt.install.options import Options


def given(role: str) -> set[tuple[str, str]]:
    """Verbs and names that a role gives."""
    found = next(
        each
        for each in people.objects(Options(authority=b""))
        if each.metadata.name == f"kubevirt.io:{role}"
    )
    return {
        (verb, resource)
        for rule in getattr(found, "rules", ())
        if "subresources.kubevirt.io" in rule.api_groups
        for resource in rule.resources
        for verb in rule.verbs
    }


@pytest.mark.parametrize("call", BUILT, ids=lambda call: call.name)
def test_an_administrator_of_a_namespace_may_make_every_call(call: Call) -> None:
    assert (call.verb, call.name) in given("admin")


def test_who_may_only_look_enters_no_guest() -> None:
    looks = given("view")
    entering = [each for each in CALLS if each.is_stream]
    changing = [each for each in CALLS if each.method == "PUT" and each.name != EXPAND]
    assert not [each.name for each in (*entering, *changing) if (each.verb, each.name) in looks]


def test_no_call_is_there_twice() -> None:
    names = [each.name for each in CALLS]
    assert len(set(names)) == len(names)
