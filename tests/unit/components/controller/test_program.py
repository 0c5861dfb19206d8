"""The flags of virt-controller."""

import pytest

from kubevirt.base.errors import ConfigError
from kubevirt.components.controller.main import _flags, main
from kubevirt.components.controller.settings import Settings


def test_the_missions_flags_are_understood() -> None:
    given = _flags().parse_args(["--launcher-image", "a:b", "--port", "8443", "-v", "3"])
    assert (given.launcher_image, given.port, given.verbosity) == ("a:b", 8443, 3)


def test_each_controller_has_a_flag_for_its_workers() -> None:
    """That of nodes had none."""
    image = ["--launcher-image", "a:b"]
    given = _flags().parse_args(image)
    counts = (given.vm_controller_threads, given.vmi_controller_threads)
    assert (*counts, given.node_controller_threads) == (12, 24, 2)
    assert (
        _flags().parse_args([*image, "--node-controller-threads", "5"]).node_controller_threads == 5
    )


def test_without_a_launcher_there_is_nothing_to_run(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert "--launcher-image" in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong",
    [{"launcher_image": ""}, {"machine_workers": 0}, {"instance_workers": -1}, {"node_workers": 0}],
)
def test_settings_that_nobody_can_work_with_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        Settings(**{"launcher_image": "a", **wrong})  # type: ignore[arg-type]


def test_each_process_stands_for_election_under_a_name_of_its_own() -> None:
    assert Settings(launcher_image="a").identity != Settings(launcher_image="a").identity
