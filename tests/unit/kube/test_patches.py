"""Patches that hold for what was seen and nothing else."""

from kubevirt.api.meta import ObjectMeta, PartialObjectMetadata
from kubevirt.kube.patches import only_if_unchanged


def test_a_patch_holds_for_the_version_that_was_seen() -> None:
    seen = PartialObjectMetadata(metadata=ObjectMeta(name="a", resource_version="7"))
    patch = only_if_unchanged(seen, {"status": {}}, {"finalizers": None})
    assert patch.body == {
        "status": {},
        "metadata": {"finalizers": None, "resourceVersion": "7"},
    }
