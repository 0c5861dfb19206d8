"""What a node says of its hardware."""

from kubevirt.api.meta import ObjectMeta
from kubevirt.components.handler.node_labels import changes, labels
from kubevirt.host.guest_hardware import GuestHardware

CPUINFO = """processor	: 0
vendor_id	: GenuineIntel

processor	: 1
vendor_id	: GenuineIntel
"""
OF_GUESTS = GuestHardware(
    machines=frozenset({"q35", "pc-q35-7.2"}),
    models=frozenset({"Haswell-noTSX", "Opteron_G1"}),
    features=frozenset({"sse4.1", "lahf_lm", "3dnow", "no label, this"}),
)

NOTHING = GuestHardware(machines=frozenset(), models=frozenset(), features=frozenset())


def test_models_features_and_boards_are_told_by_the_names_that_guests_ask_by() -> None:
    assert labels(CPUINFO, OF_GUESTS) == {
        "cpu-vendor.node.kubevirt.io/Intel": "true",
        "cpu-model.node.kubevirt.io/Haswell-noTSX": "true",
        "cpu-model.node.kubevirt.io/Opteron_G1": "true",
        "cpu-feature.node.kubevirt.io/3dnow": "true",
        "cpu-feature.node.kubevirt.io/lahf_lm": "true",
        "cpu-feature.node.kubevirt.io/sse4.1": "true",
        "machine-type.node.kubevirt.io/pc-q35-7.2": "true",
        "machine-type.node.kubevirt.io/q35": "true",
    }


def test_a_processor_of_which_nothing_is_known_has_no_labels() -> None:
    assert labels("", NOTHING) == {}


def test_labels_that_are_true_no_more_go_and_others_stay() -> None:
    wanted = {"cpu-model.node.kubevirt.io/Nehalem": "true"}
    had = {
        "cpu-model.node.kubevirt.io/Haswell": "true",
        "cpu-feature.node.kubevirt.io/avx2": "true",
        "kubevirt.io/schedulable": "true",
        "cpu-model.example.com/Haswell": "true",
    }
    assert changes(ObjectMeta(labels=had), wanted) == {
        "cpu-model.node.kubevirt.io/Haswell": None,
        "cpu-feature.node.kubevirt.io/avx2": None,
        **wanted,
    }
    assert changes(ObjectMeta(labels=wanted), wanted) == {}


def test_a_node_that_is_to_be_skipped_is_labelled_by_whoever_said_so() -> None:
    node = ObjectMeta(
        labels={"cpu-model.node.kubevirt.io/Haswell": "true"},
        annotations={"node-labeller.kubevirt.io/skip-node": ""},
    )
    assert changes(node, {"cpu-model.node.kubevirt.io/Nehalem": "true"}) == {}
