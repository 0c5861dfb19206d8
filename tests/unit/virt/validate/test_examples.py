"""The examples of the project are accepted; those of upstream too, as far as their features are built (tests/upstream.py)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from tests import upstream
from tests.unit.virt.validate.judged import USER

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine
from kubevirt.virt.validate import instance, machine
from kubevirt.virt.validate.causes import Cause
from kubevirt.virt.validate.rules import Rules

EXAMPLES = Path(__file__).parents[4] / "examples"
NOT_HERE = (" yet", "feature gate is not enabled")
"""What a refusal of an example of theirs must say: that it is not built, or behind a gate."""


def documents(paths: Iterable[Path]) -> list[Any]:
    return [
        pytest.param(document, id=f"{path.parent.name}/{path.name}-{document['kind']}")
        for path in paths
        for document in yaml.safe_load_all(path.read_text())
        if document and document.get("kind") in {"VirtualMachine", "VirtualMachineInstance"}
    ]


def judged(document: dict[str, Any]) -> tuple[Cause, ...]:
    if document["kind"] == "VirtualMachine":
        return machine.created(msgspec.convert(document, VirtualMachine), Rules())
    return instance.created(msgspec.convert(document, VirtualMachineInstance), USER, Rules())


@pytest.mark.parametrize("document", documents(sorted(EXAMPLES.rglob("*.yaml"))))
def test_an_example_is_accepted(document: dict[str, Any]) -> None:
    assert judged(document) == ()


@upstream.needed
@pytest.mark.parametrize("document", documents(upstream.examples()))
def test_an_example_of_theirs_is_accepted_or_not_built(document: dict[str, Any]) -> None:
    for cause in judged(document):
        assert any(words in cause.message for words in NOT_HERE)
