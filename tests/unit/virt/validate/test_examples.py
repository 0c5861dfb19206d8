"""The examples of the project are accepted; those of upstream too, as far as their features are built.

Point KUBEVIRT_UPSTREAM at a folder with KubeVirt's `examples/` for the second half.
"""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from tests.unit.virt.validate.judged import USER

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine
from kubevirt.virt.validate import instance, machine
from kubevirt.virt.validate.causes import Cause
from kubevirt.virt.validate.rules import Rules

EXAMPLES = Path(__file__).parents[4] / "examples"
UPSTREAM = os.environ.get("KUBEVIRT_UPSTREAM")
NOT_HERE = (" yet", "feature gate is not enabled")
"""What a refusal of an example of theirs must say: that it is not built, or behind a gate."""


def documents(folder: Path) -> list[Any]:
    return [
        pytest.param(document, id=f"{path.relative_to(folder)}-{document['kind']}")
        for path in sorted(folder.rglob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text())
        if document and document.get("kind") in {"VirtualMachine", "VirtualMachineInstance"}
    ]


def judged(document: dict[str, Any]) -> tuple[Cause, ...]:
    if document["kind"] == "VirtualMachine":
        return machine.created(msgspec.convert(document, VirtualMachine), Rules())
    return instance.created(msgspec.convert(document, VirtualMachineInstance), USER, Rules())


@pytest.mark.parametrize("document", documents(EXAMPLES))
def test_an_example_is_accepted(document: dict[str, Any]) -> None:
    assert judged(document) == ()


@pytest.mark.skipif(UPSTREAM is None, reason="set KUBEVIRT_UPSTREAM to KubeVirt's examples")
@pytest.mark.parametrize("document", documents(Path(UPSTREAM) / "examples") if UPSTREAM else [])
def test_an_example_of_theirs_is_accepted_or_not_built(document: dict[str, Any]) -> None:
    for cause in judged(document):
        assert any(words in cause.message for words in NOT_HERE)
