"""What a check finds: a verdict, what it rests on, and the way out."""

from enum import Enum

import msgspec


class Verdict(Enum):
    OK = "ok"
    NOTE = "note"
    """Worth knowing, nothing to mend."""
    WARNING = "warning"
    """The home comes up; something that a user may want does not work."""
    MISSING = "missing"
    """The home does not come up."""


class Finding(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    name: str
    verdict: Verdict
    cause: str
    """What was seen, as a clause."""
    way_out: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.cause}; {self.way_out}" if self.way_out else self.cause


def ok(name: str, cause: str) -> Finding:
    return Finding(name=name, verdict=Verdict.OK, cause=cause)


def note(name: str, cause: str) -> Finding:
    return Finding(name=name, verdict=Verdict.NOTE, cause=cause)


def warning(name: str, cause: str, way_out: str) -> Finding:
    return Finding(name=name, verdict=Verdict.WARNING, cause=cause, way_out=way_out)


def missing(name: str, cause: str, way_out: str) -> Finding:
    return Finding(name=name, verdict=Verdict.MISSING, cause=cause, way_out=way_out)
