"""What a node says of its processor."""

from kubevirt.components.handler.node_labels import labels
from kubevirt.host.guest_cpu import GuestCpu

CPUINFO = """processor	: 0
vendor_id	: GenuineIntel

processor	: 1
vendor_id	: GenuineIntel
"""
CPU_OF_GUESTS = GuestCpu(
    models=frozenset({"Haswell-noTSX", "Opteron_G1"}),
    features=frozenset({"sse4.1", "lahf_lm", "3dnow", "no label, this"}),
)


def test_models_and_features_are_told_by_the_names_that_guests_ask_by() -> None:
    assert labels(CPUINFO, CPU_OF_GUESTS) == {
        "cpu-vendor.node.kubevirt.io/Intel": "true",
        "cpu-model.node.kubevirt.io/Haswell-noTSX": "true",
        "cpu-model.node.kubevirt.io/Opteron_G1": "true",
        "cpu-feature.node.kubevirt.io/3dnow": "true",
        "cpu-feature.node.kubevirt.io/lahf_lm": "true",
        "cpu-feature.node.kubevirt.io/sse4.1": "true",
    }


def test_a_processor_of_which_nothing_is_known_has_no_labels() -> None:
    assert labels("", GuestCpu(models=frozenset(), features=frozenset())) == {}
