"""Targets: whom a command is about, as people write it.

testvm              a name; the command knows of what kind
vm/testvm           a machine
vmi/testvm/lab      an instance in the namespace lab
jo@vmi/testvm       the same, and whom to log in as

A machine and its instance have the same name, so either may be written where the other is meant. Names
become parts of paths and of command lines, so they are checked here, and only here.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from kubevirt.base.errors import UserError

_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_USER: Final = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.@\\+-]*\$?")
_NAME_LIMIT: Final = 253
_FORM: Final = "write NAME, TYPE/NAME or TYPE/NAME/NAMESPACE, such as vm/testvm"


class Kind(StrEnum):
    VM = "vm"
    VMI = "vmi"

    @property
    def plural(self) -> str:
        return "virtualmachines" if self is Kind.VM else "virtualmachineinstances"

    @property
    def object_kind(self) -> str:
        return "VirtualMachine" if self is Kind.VM else "VirtualMachineInstance"


_KINDS: Final = {
    word: kind
    for kind in Kind
    for word in (kind.value, f"{kind.value}s", kind.plural, kind.plural.removesuffix("s"))
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    kind: Kind
    name: str
    namespace: str = ""
    """Empty where the flags and the kubeconfig decide."""

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"

    def in_namespace(self, fallback: str) -> "Target":
        return self if self.namespace else replace(self, namespace=checked(fallback, "namespace"))


def parse(text: str, kind: Kind) -> Target:
    """`kind` is what a bare name means."""
    match text.split("/"):
        case [name]:
            return Target(kind=kind, name=checked(name, "name"))
        case [word, name]:
            return Target(kind=kind_of(word), name=checked(name, "name"))
        case [word, name, namespace]:
            return Target(
                kind=kind_of(word),
                name=checked(name, "name"),
                namespace=checked(namespace, "namespace"),
            )
    raise UserError(f"{text!r} names nothing; {_FORM}", reason="Usage")


def parse_with_user(text: str, kind: Kind) -> tuple[str, Target]:
    """Who logs in where; nobody is the empty user."""
    user, at, rest = text.rpartition("@")
    if at and not _USER.fullmatch(user):
        raise UserError(f"{user!r} is no name of a user", reason="Usage")
    return user, parse(rest, kind)


def of_kind(words: tuple[str, ...]) -> Target:
    """`vm NAME`, as KubeVirt's commands want it, or `vm/NAME`."""
    if len(words) == 2:
        return Target(kind=kind_of(words[0]), name=checked(words[1], "name"))
    if len(words) == 1 and "/" in words[0]:
        return parse(words[0], Kind.VM)
    raise UserError("name one, as vm NAME or vmi NAME", reason="Usage")


def kind_of(word: str) -> Kind:
    found = _KINDS.get(word.lower())
    if found is None:
        raise UserError(f"{word!r} is no kind that this is about; write vm or vmi", reason="Usage")
    return found


def checked(name: str, what: str) -> str:
    if not _SUBDOMAIN.fullmatch(name) or len(name) > _NAME_LIMIT:
        raise UserError(
            f"{name!r} cannot be a {what}: it has small letters, digits, dashes and dots in it,"
            " a letter or digit first and last",
            reason="Usage",
        )
    return name
