"""What `virtctl up` makes of its words."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from kubevirt.cli import up
from kubevirt.embedded.process import daemon
from kubevirt.embedded.process.progress import Failed
from kubevirt.embedded.process.settings import Wishes


@pytest.fixture
def wishes(monkeypatch: pytest.MonkeyPatch) -> list[Wishes]:
    """Those with which a process would have been started."""
    found: list[Wishes] = []

    def start(wished: Wishes, *_: object) -> Failed:
        found.append(wished)
        return Failed(message="not in this test")

    monkeypatch.setattr(daemon, "start", start)
    return found


@pytest.mark.parametrize(
    ("words", "value", "wanted"),
    [
        ([], None, None),
        ([], "1", True),
        ([], "0", False),
        (["--separate"], None, True),
        (["--no-separate"], "1", False),
    ],
)
def test_programs_of_their_own_are_wished_for_by_a_word_or_by_the_environment(
    wishes: list[Wishes],
    tmp_path: Path,
    words: list[str],
    value: str | None,
    wanted: bool | None,  # noqa: FBT001
) -> None:
    CliRunner().invoke(
        up.command, ["--home", str(tmp_path / "home"), *words], env={"VIRTCTL_SEPARATE": value}
    )
    assert [each.is_separate for each in wishes] == [wanted]
