"""Which pull secret is for which image."""

import json

import pytest

from kubevirt.embedded.runtime.images.pull_secrets import credentials_for
from kubevirt.host.oci.reference import Reference


def secret(*places: str) -> bytes:
    return json.dumps(
        {"auths": {place: {"username": place, "password": "secret"} for place in places}}
    ).encode()


@pytest.mark.parametrize(
    ("place", "image", "fits"),
    [
        ("quay.io", "quay.io/a/b", True),
        ("https://quay.io", "quay.io/a/b", True),
        ("https://quay.io/v2/", "quay.io/a/b", True),
        ("quay.io/a", "quay.io/a/b", True),
        ("quay.io/a/b", "quay.io/a/b:1", True),
        ("quay.io/a", "quay.io/ab/b", False),
        ("quay.io/a/b/c", "quay.io/a/b", False),
        ("io", "quay.io/a/b", False),
        ("https://index.docker.io/v1/", "busybox", True),
        ("docker.io", "kubevirt/demo", True),
        ("quay.io:5000", "quay.io/a/b", False),
        ("localhost:5000", "localhost:5000/a", True),
        ("", "busybox", False),
    ],
)
def test_a_secret_is_for_its_registry_or_a_part_of_it(
    place: str, image: str, *, fits: bool
) -> None:
    found = credentials_for(Reference.parse(image), [secret(place)])

    assert bool(found) is fits


def test_the_one_that_fits_best_comes_first_and_each_once() -> None:
    secrets = [secret("quay.io"), secret("quay.io/a/b", "quay.io/a"), secret("quay.io")]

    found = credentials_for(Reference.parse("quay.io/a/b"), secrets)

    assert [each.user for each in found] == ["quay.io/a/b", "quay.io/a", "quay.io"]


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b'{"auths": 3}', b'{"auths": {"quay.io": {"auth": "%%%"}}}', b"[" * 100_000],
)
def test_what_cannot_be_read_opens_nothing(content: bytes) -> None:
    assert credentials_for(Reference.parse("quay.io/a/b"), [content]) == []
