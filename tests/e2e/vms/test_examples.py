"""Every machine in examples/ comes alive as it stands there, and does what it says of itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e.standalone.test_standalone import VM, WITH_FILES
from tests.e2e.vms.place import Place

EXAMPLES = Path(__file__).parents[3] / "examples"
MANIFESTS = sorted(EXAMPLES.glob("*.yaml"))
TRIALS: dict[str, Callable[[Place], Any]] = {}
"""By the name of the file."""


def of(name: str) -> Callable[[Callable[[Place], Any]], Callable[[Place], Any]]:
    def is_told(trial: Callable[[Place], Any]) -> Callable[[Place], Any]:
        TRIALS[name] = trial
        return trial

    return is_told


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda each: each.stem)
async def test_an_example_does_what_it_says(manifest: Path, place: Place) -> None:
    applied = place.kubectl("apply", "-f", str(manifest))
    assert applied.code == 0, applied.err
    # The first one is the mission's own, in the words of its time.
    assert ("deprecated" in applied.err) == (manifest.stem == "vm"), applied.err
    await TRIALS[manifest.stem](place)


def test_every_example_is_tried() -> None:
    """Those in folders elsewhere."""
    elsewhere = {"standalone": [each.name for each in (VM, WITH_FILES)], "controller": ["clone.py"]}
    assert sorted(TRIALS) == [each.stem for each in MANIFESTS]
    for folder in (each for each in EXAMPLES.iterdir() if each.is_dir()):
        assert {each.name for each in folder.iterdir() if each.is_file()} == set(
            elsewhere[folder.name]
        )


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda each: each.stem)
def test_an_example_begins_with_how_to_use_it(manifest: Path) -> None:
    first, *_ = manifest.read_text().split("\napiVersion")
    name = f"examples/{manifest.name}"
    assert f"kubectl apply -f {name}" in first
    assert all(yaml.safe_load_all(manifest.read_text()))


@of("vm")
async def _vm(place: Place) -> None:
    await place.until_status("testvm", "Stopped")
    assert place.virtctl("start", "testvm", "--wait").code == 0
    with place.console("testvm") as guest:
        guest.log_in()
        assert guest.run("uname") == "Linux"


@of("vmi")
async def _vmi(place: Place) -> None:
    await place.until_phase("once", "Running")
    with place.console("once") as guest:
        guest.log_in()
        guest.session.type("sudo poweroff\n")
        await place.until_phase("once", "Succeeded")


@of("web")
async def _web(place: Place) -> None:
    await place.until("web", _is_ready, "Ready")
    # Names and rules follow a moment after what they are made of.
    fetch = "until busybox wget -q -O - http://web/ 2>/dev/null; do sleep 0.2; done"
    assert place.said_by_a_pod("sh", "-c", fetch) == "A guest says hello.\n"


@of("disk")
async def _disk(place: Place) -> None:
    for command, expected in (
        ("echo kept | sudo tee /dev/{}", "kept"),
        ("sudo head -n1 /dev/{}", "kept"),
    ):
        assert place.virtctl("start", "keeper", "--wait").code == 0
        with place.console("keeper") as guest:
            guest.log_in()
            assert guest.run(f"{command.format(guest.disk('DATA'))}; sync") == expected
        assert place.virtctl("stop", "keeper", "--wait").code == 0


def _is_ready(vm: dict[str, Any]) -> bool:
    conditions = vm.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
