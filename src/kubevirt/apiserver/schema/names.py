"""Rules for names, labels and keys. Each gives what is wrong, in Kubernetes' words, or nothing."""

import re
from collections.abc import Callable
from typing import Final

NameRule = Callable[[str], list[str]]

_ALNUM: Final = "[A-Za-z0-9]"
_QUALIFIED: Final = f"({_ALNUM}[-A-Za-z0-9_.]*)?{_ALNUM}"
_LABEL_VALUE: Final = f"({_QUALIFIED})?"
_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"

_IS_QUALIFIED: Final = re.compile(_QUALIFIED)
_IS_LABEL_VALUE: Final = re.compile(_LABEL_VALUE)
_IS_LABEL: Final = re.compile(_LABEL)
_IS_SUBDOMAIN: Final = re.compile(_SUBDOMAIN)
_IS_LABEL_1035: Final = re.compile(_LABEL_1035)

_QUALIFIED_WORDS: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.',"
    " and must start and end with an alphanumeric character"
    f" (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_QUALIFIED}')"
)
_LABEL_VALUE_WORDS: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.',"
    " and must start and end with an alphanumeric character"
    f" (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_LABEL_VALUE}')"
)
_LABEL_WORDS: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-',"
    " and must start and end with an alphanumeric character"
    f" (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
_SUBDOMAIN_WORDS: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',"
    " and must start and end with an alphanumeric character"
    f" (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_LABEL_1035_WORDS: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an"
    " alphabetic character, and end with an alphanumeric character"
    f" (e.g. 'my-name',  or 'abc-123', regex used for validation is '{_LABEL_1035}')"
)


def _too_long(limit: int) -> str:
    return f"must be no more than {limit} characters"


def subdomain(name: str) -> list[str]:
    wrong = [_too_long(253)] if len(name.encode()) > 253 else []
    return wrong if _IS_SUBDOMAIN.fullmatch(name) else [*wrong, _SUBDOMAIN_WORDS]


def label(name: str) -> list[str]:
    wrong = [_too_long(63)] if len(name.encode()) > 63 else []
    if _IS_LABEL.fullmatch(name):
        return wrong
    return [*wrong, "must not contain dots" if _IS_SUBDOMAIN.fullmatch(name) else _LABEL_WORDS]


def label_1035(name: str) -> list[str]:
    wrong = [_too_long(63)] if len(name.encode()) > 63 else []
    return wrong if _IS_LABEL_1035.fullmatch(name) else [*wrong, _LABEL_1035_WORDS]


def path_segment(name: str) -> list[str]:
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{each}'" for each in ("/", "%") if each in name]


def label_value(value: str) -> list[str]:
    wrong = [_too_long(63)] if len(value.encode()) > 63 else []
    return wrong if _IS_LABEL_VALUE.fullmatch(value) else [*wrong, _LABEL_VALUE_WORDS]


def qualified(name: str) -> list[str]:
    """Keys of labels and annotations, finalizers: a name, perhaps with a domain before it."""
    *prefixes, name = name.split("/")
    if len(prefixes) > 1:
        with_prefix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a qualified name {_QUALIFIED_WORDS} {with_prefix}"]
    wrong = []
    if prefixes:
        if not prefixes[0]:
            wrong.append("prefix part must be non-empty")
        wrong += [f"prefix part {words}" for words in subdomain(prefixes[0]) if prefixes[0]]
    if not name:
        wrong.append("name part must be non-empty")
    elif len(name.encode()) > 63:
        wrong.append(f"name part {_too_long(63)}")
    if not _IS_QUALIFIED.fullmatch(name):
        wrong.append(f"name part {_QUALIFIED_WORDS}")
    return wrong


def as_prefix(rule: NameRule) -> NameRule:
    """The rule for a `generateName`, to which characters are added."""

    def check(name: str) -> list[str]:
        if len(name) > 1 and name.endswith("-"):
            name = name[:-2] + "a"
        return rule(name)

    return check
