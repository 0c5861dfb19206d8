"""scripts/bootstrap.sh on the machine it has been run on."""

from pathlib import Path

import pytest

from kubevirt.base import commands

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(
    not (ROOT / ".venv" / ".bootstrap").exists(), reason="run scripts/bootstrap.sh once"
)
async def test_a_second_run_has_nothing_to_do() -> None:
    marker = ROOT / ".venv" / ".bootstrap"
    before = marker.stat().st_mtime_ns
    done = await commands.run(str(ROOT / "scripts" / "bootstrap.sh"), timeout_s=60)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert marker.stat().st_mtime_ns == before
