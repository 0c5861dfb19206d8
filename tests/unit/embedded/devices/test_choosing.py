"""Which devices a container gets."""

import msgspec
import pytest

from kubevirt.api.core.container import Container
from kubevirt.api.core.pod import Pod
from kubevirt.embedded.node.devices.choosing import Choice, TooFew, choice, chosen, wanted

Held = list[tuple[str, str, tuple[str, ...]]]

POD = msgspec.convert(
    {
        "metadata": {"name": "one", "uid": "one"},
        "spec": {
            "initContainers": [
                {"name": "first", "image": "x"},
                {"name": "sidecar", "image": "x", "restartPolicy": "Always"},
                {"name": "second", "image": "x"},
            ],
            "containers": [{"name": "main", "image": "x"}, {"name": "other", "image": "x"}],
        },
    },
    Pod,
)


def of(container: str, count: int, held: Held, healthy: str = "abcd") -> Choice | TooFew:
    return choice("example.com/widget", count, list(healthy), held, POD, container)


@pytest.mark.parametrize(
    ("container", "held", "included", "available"),
    [
        ("main", [], "", "abcd"),
        ("main", [("two", "main", ("a",))], "", "bcd"),
        ("main", [("two", "first", ("a",))], "", "bcd"),  # another pod's
        ("main", [("one", "first", ("c",))], "c", "abcd"),
        ("main", [("one", "sidecar", ("c",))], "", "abd"),  # it goes on
        ("main", [("one", "first", ("c",)), ("one", "other", ("c",))], "", "abd"),  # reused already
        ("second", [("one", "first", ("c",))], "c", "abcd"),
        ("first", [("one", "second", ("c",))], "", "abd"),
        ("main", [("one", "first", ("x",))], "", "abcd"),  # no longer healthy
    ],
)
def test_what_may_be_chosen(container: str, held: Held, included: str, available: str) -> None:
    assert of(container, 1, held) == Choice(
        count=1, included=list(included), available=list(available)
    )


def test_too_few_devices_are_told_in_a_kubelets_words() -> None:
    found = of("main", 4, [("two", "main", ("a", "b"))])
    assert found == TooFew(
        "requested number of devices unavailable for example.com/widget. Requested: 4, Available: 2"
    )


def test_no_healthy_device_at_all_is_told_so() -> None:
    found = of("main", 1, [], healthy="")
    assert found == TooFew(
        "no healthy devices present; cannot allocate unhealthy devices example.com/widget"
    )


@pytest.mark.parametrize(
    ("included", "preferred", "ids"),
    [("", "", "ab"), ("", "dc", "dc"), ("c", "", "ca"), ("c", "d", "cd"), ("", "xzd", "da")],
)
def test_what_is_preferred_goes_first(included: str, preferred: str, ids: str) -> None:
    found = Choice(count=2, included=list(included), available=list("abcd"))
    assert chosen(found, list(preferred)) == tuple(ids)


def test_only_limits_of_known_resources_count() -> None:
    limits = {"cpu": "2", "example.com/widget": "2k", "example.com/none": "0", "example.com/x": 1}
    container = msgspec.convert(
        {"name": "a", "image": "x", "resources": {"limits": limits}}, Container
    )
    known = {"example.com/widget", "example.com/none"}
    assert wanted(container, known) == {"example.com/widget": 2000}
    assert wanted(msgspec.convert({"name": "a", "image": "x"}, Container), known) == {}
