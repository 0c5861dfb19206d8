"""What a node says of its processor."""

from kubevirt.components.handler.node_labels import labels

CPUINFO = """processor	: 0
vendor_id	: GenuineIntel
flags		: fpu sse4_1 tsc_deadline_timer pni

processor	: 1
vendor_id	: GenuineIntel
flags		: fpu other
"""


def test_features_are_spelled_as_guests_ask_for_them() -> None:
    assert labels(CPUINFO) == {
        "cpu-vendor.node.kubevirt.io/Intel": "true",
        "cpu-feature.node.kubevirt.io/fpu": "true",
        "cpu-feature.node.kubevirt.io/sse4.1": "true",
        "cpu-feature.node.kubevirt.io/tsc-deadline-timer": "true",
        "cpu-feature.node.kubevirt.io/sse3": "true",
    }


def test_a_processor_of_which_nothing_is_known_has_no_labels() -> None:
    assert labels("") == {}
