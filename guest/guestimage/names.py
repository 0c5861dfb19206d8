"""Under which names the images are known: those of KubeVirt's examples, documents and tests.

A container disk is asked for by whichever of these its manifest holds. All spellings of an image lead
to the same bytes.
"""

from collections.abc import Iterator

_PLACES = ("docker.io/kubevirt", "quay.io/kubevirt", "registry:5000/kubevirt")
"""Where manifests look: without a host, as published, and as KubeVirt's own examples are rendered."""

_TAGS = ("latest", "devel")

REPOSITORIES = {
    "cirros": ("cirros-container-disk-demo", "cirros-registry-disk-demo"),
    "cirros-without-agent": ("cirros-without-agent-container-disk-demo",),
    "alpine": (
        "alpine-container-disk-demo",
        "alpine-registry-disk-demo",
        "alpine-with-test-tooling-container-disk",
    ),
    "fedora": (
        "fedora-with-test-tooling-container-disk",
        "fedora-cloud-container-disk-demo",
        "fedora-cloud-registry-disk-demo",
    ),
    "kernel-boot": ("alpine-ext-kernel-boot-demo",),
}
"""Image to the repositories that it stands in for."""


def of(image: str) -> Iterator[str]:
    """Every full name of an image, the way container engines store names."""
    for repository in REPOSITORIES[image]:
        for place in _PLACES:
            for tag in _TAGS:
                yield f"{place}/{repository}:{tag}"
