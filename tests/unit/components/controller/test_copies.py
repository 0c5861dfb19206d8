"""Copies of a machine's spec, in the spelling that a server would give them."""

import msgspec

from kubevirt.components.controller.machines.copies import manifest, spelled
from kubevirt.testing.builders import a_machine
from kubevirt.virt.machine import revision


def test_keys_are_in_order_and_nothing_stands_between() -> None:
    assert spelled({"b": [1, True, None], "a": {"d": "ä", "c": 2}}) == (
        '{"a":{"c":2,"d":"ä"},"b":[1,true,null]}'.encode()
    )


def test_what_could_end_a_script_is_escaped_as_go_does() -> None:
    assert (
        spelled({"a": "x && y <z>\u2028"}) == b'{"a":"x \\u0026\\u0026 y \\u003cz\\u003e\\u2028"}'
    )


def test_a_copy_can_be_read_again() -> None:
    vm = a_machine(guest={"hostname": "a"}, runStrategy="Always")
    sent = msgspec.json.encode(manifest(revision.of(vm)))
    copy = msgspec.json.decode(sent, type=type(revision.of(vm)))
    assert revision.spec_in(copy) == vm.spec
