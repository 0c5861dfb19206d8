"""What a start needs: checks that cost nothing, made before anything is begun."""

from collections.abc import Iterator, Sequence

from kubevirt.base.errors import ConfigError
from kubevirt.embedded.doctor import machine, place, programs
from kubevirt.embedded.doctor.finding import Finding, Verdict
from kubevirt.embedded.home import Home


def check(home: Home) -> None:
    """Everything that is missing, in one sentence; nothing is run for it."""
    findings = [*of_machine(), *programs.all_found(), programs.keeper(), place.space(home.path)]
    lacking = [each for each in findings if each.verdict is Verdict.MISSING]
    if lacking:
        raise ConfigError(_sentence(lacking), reason=_reason(lacking))


def _sentence(lacking: Sequence[Finding]) -> str:
    if len(lacking) == 1:
        return lacking[0].sentence
    return "this machine is not ready for it: " + "; ".join(
        f"{each.cause} ({each.way_out})" for each in lacking
    )


def _reason(lacking: Sequence[Finding]) -> str:
    return "NotRoot" if [each.name for each in lacking] == ["root"] else "NotAble"


def of_machine() -> Iterator[Finding]:
    yield machine.user()
    yield machine.kernel()
    yield machine.namespaces()
    yield machine.overlay()
    yield from machine.devices()
    yield machine.control_groups()
