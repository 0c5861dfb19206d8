"""What the doctor found, for the eye and for programs."""

from collections.abc import Sequence
from typing import Final

import msgspec

from kubevirt.embedded.doctor.finding import Finding, Verdict

_MARKS: Final = {Verdict.OK: "✓", Verdict.NOTE: "·", Verdict.WARNING: "!", Verdict.MISSING: "✗"}


def as_json(findings: Sequence[Finding]) -> str:
    return msgspec.json.format(msgspec.json.encode(findings), indent=2).decode()


def as_text(findings: Sequence[Finding]) -> str:
    width = max((len(each.name) for each in findings), default=0) + 2
    lines = [f" {_MARKS[each.verdict]} {each.name:<{width}}{each.sentence}" for each in findings]
    return "\n".join([*lines, "", _summary(findings)])


def _summary(findings: Sequence[Finding]) -> str:
    lacking = sum(each.verdict is Verdict.MISSING for each in findings)
    warnings = sum(each.verdict is Verdict.WARNING for each in findings)
    if lacking:
        return f"{lacking} missing: the home does not come up before that is mended"
    return f"nothing is missing; {warnings} to look at" if warnings else "all is well"
