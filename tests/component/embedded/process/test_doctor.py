"""The doctor looks at a machine and at a home, whoever asks."""

import json
import os
from typing import Any

import pytest
from tests.component.embedded.process.conftest import Virtctl
from tests.strangers import NOBODY, as_somebody_else

pytestmark = pytest.mark.timeout(180)


def findings(virtctl: Virtctl, uid: int | None = None) -> tuple[int, dict[str, dict[str, Any]]]:
    done = virtctl("doctor", "-o", "json", uid=uid)
    assert done.err == ""
    return done.code, {each["name"]: each for each in json.loads(done.out)}


def test_a_machine_without_a_home_can_have_one(virtctl: Virtctl) -> None:
    code, found = findings(virtctl)
    assert code == 0
    assert found["home"]["verdict"] == "note"
    assert found["nft"]["verdict"] == "ok"
    assert "SPDY" in found["port-forward"]["cause"]


def test_programs_for_guests_are_looked_for_too(virtctl: Virtctl) -> None:
    _, found = findings(virtctl)
    looked_for = {
        "libvirtd",
        "qemu-img",
        f"qemu-system-{os.uname().machine}",
        "conntrack",
        "kubectl",
    }
    assert looked_for <= found.keys()


def test_a_home_that_is_up_is_well_and_one_that_died_is_not(virtctl: Virtctl) -> None:
    virtctl.up()
    code, found = findings(virtctl)
    assert (code, found["process"]["verdict"], found["node01"]["verdict"]) == (0, "ok", "ok")
    virtctl.kill()
    assert findings(virtctl)[1]["process"]["verdict"] == "warning"


@as_somebody_else
def test_a_plain_user_is_answered_too(standing: Virtctl) -> None:
    code, found = findings(standing, uid=NOBODY)
    assert (code, found["root"]["verdict"]) == (7, "missing")
    text = standing("doctor", uid=NOBODY)
    assert "✗ root" in text.out
