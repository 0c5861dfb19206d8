"""What a path asks for, and that whoever is asked for leave sees the same."""

import pytest

from kubevirt.components.virtapi import path
from kubevirt.components.virtapi.identity import Asker
from kubevirt.components.virtapi.path import Asked
from kubevirt.components.virtapi.permission import review
from kubevirt.virt.commands.calls import CALLS, Call
from kubevirt.virt.commands.refusal import Refusal

ROOT = "namespaces/home/virtualmachineinstances/testvm"


def asked(below: str) -> Asked:
    return path.asked("v1", path.parts_of(below))


@pytest.mark.parametrize("call", [each for each in CALLS if each.subresource], ids=lambda c: c.name)
def test_the_right_to_a_call_is_that_to_all_of_its_name(call: Call) -> None:
    found = asked(f"namespaces/home/{call.resource}/testvm/{call.subresource}")
    attributes = review(Asker(user="jane"), found).spec.resource_attributes
    assert attributes is not None
    assert (attributes.resource, attributes.subresource) == (call.resource, call.subresource)
    assert (attributes.namespace, attributes.name) == ("home", "testvm")
    assert attributes.verb == {"GET": "get", "PUT": "update"}[call.method]
    assert attributes.group == "subresources.kubevirt.io"


def test_a_port_is_no_part_of_the_right_to_it() -> None:
    found = asked(f"{ROOT}/portforward/8080/udp")
    assert (found.call.subresource, found.arguments) == ("portforward", ("8080", "udp"))


def test_a_machine_can_be_expanded_that_is_nowhere() -> None:
    found = asked("namespaces/home/expand-vm-spec")
    attributes = review(Asker(user="jane"), found).spec.resource_attributes
    assert attributes is not None
    assert (attributes.resource, attributes.subresource) == ("expand-vm-spec", None)
    assert (attributes.verb, attributes.name) == ("update", None)


@pytest.mark.parametrize(
    "below",
    [
        "namespaces/home/virtualmachineinstances/testvm",
        "namespaces/home/virtualmachineinstances/testvm/nothing",
        "namespaces/home/virtualmachineinstances/testvm/vnc/screenshot/more",
        "namespaces/home/virtualmachineinstances/testvm/portforward/1/tcp/more",
        "namespaces/home/virtualmachineinstances/testvm/console/",
        "namespaces/home/virtualmachineinstances/../console",
        "namespaces/home/virtualmachineinstances/a%2Fb/console",
        "namespaces//virtualmachineinstances/testvm/console",
        "namespaces/home/virtualmachines/testvm/console",
        "virtualmachines/testvm/start",
        "namespaces/home/pods/testvm/start",
    ],
)
def test_other_paths_lead_nowhere(below: str) -> None:
    with pytest.raises(Refusal) as caught:
        asked(below)
    assert caught.value.code == 404
