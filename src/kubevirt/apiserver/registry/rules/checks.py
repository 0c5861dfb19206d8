"""Checks that fields of many kinds share: names, numbers, ports, paths, labels.

Each gives the errors of the field that it is told, and none if all is well.
"""

import ipaddress
import re
from collections.abc import Collection, Iterator
from typing import Any, Final

from kubevirt.apiserver.registry.rules.rules import Object
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import (
    FieldError,
    invalid,
    not_supported,
    required,
)

Errors = Iterator[FieldError]

INT32: Final = 2**31 - 1
PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
NEGATIVE: Final = "must be greater than or equal to 0"
FILE_MODE: Final = "must be a number between 0 and 0777 (octal), both inclusive"
_CONFIG_KEY: Final = re.compile(r"[-._a-zA-Z0-9]+")
_CONFIG_KEY_WORDS: Final = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
    " (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is"
    " '[-._a-zA-Z0-9]+')"
)
_ENV_NAME_WORDS: Final = "a valid environment variable name must consist only of printable ASCII characters other than '='"
_HEADER: Final = re.compile(r"[-A-Za-z0-9]+")
_HEADER_WORDS: Final = (
    "a valid HTTP header must consist of alphanumeric characters or '-'"
    " (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')"
)


def between(low: int, high: int) -> str:
    return f"must be between {low} and {high}, inclusive"


def named(field: str, value: str, rule: names.NameRule) -> Errors:
    yield from (invalid(field, value, words) for words in rule(value))


def one_of(field: str, value: str, known: Collection[str], *, needed: str | None = None) -> Errors:
    """`needed` is what is said of a value that is missing; None if that is just another wrong one."""
    if not value and needed is not None:
        yield required(field, needed)
    elif value not in known:
        yield not_supported(field, value, known)


def not_negative(field: str, value: int) -> Errors:
    if value < 0:
        yield invalid(field, value, NEGATIVE)


def positive(field: str, value: int) -> Errors:
    if value <= 0:
        yield invalid(field, value, "must be greater than zero")


def within(field: str, value: int, low: int, high: int) -> Errors:
    if not low <= value <= high:
        yield invalid(field, value, between(low, high))


def file_mode(owner: Object, path: str, name: str) -> Errors:
    mode = owner.get(name)
    if mode is not None and not 0 <= mode <= 0o777:
        yield invalid(f"{path}.{name}", mode, FILE_MODE)


# Names


def port_name(name: str) -> list[str]:
    wrong = ["must be no more than 15 characters"] if len(name) > 15 else []
    if not re.fullmatch(r"[-a-z0-9]+", name):
        wrong.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search(r"[a-z]", name):
        wrong.append("must contain at least one letter (a-z)")
    if "--" in name:
        wrong.append("must not contain consecutive hyphens")
    if name.startswith("-") or name.endswith("-"):
        wrong.append("must not begin or end with a hyphen")
    return wrong


def port(field: str, value: Any) -> Errors:
    """A number, or the name of a port."""
    if isinstance(value, str):
        yield from named(field, value, port_name)
    else:
        yield from within(field, value or 0, 1, 65535)


def config_key(key: str) -> list[str]:
    wrong = ["must be no more than 253 characters"] if len(key) > 253 else []
    if not _CONFIG_KEY.fullmatch(key):
        wrong.append(_CONFIG_KEY_WORDS)
    elif key == ".":
        wrong.append("must not be '.'")
    elif key.startswith(".."):
        wrong.append("must not be '..'" if key == ".." else "must not start with '..'")
    return wrong


def variable_name(name: str) -> list[str]:
    is_fine = name.isascii() and name.isprintable() and "=" not in name
    return [] if is_fine else [_ENV_NAME_WORDS]


def header_name(name: str) -> list[str]:
    return [] if _HEADER.fullmatch(name) else [_HEADER_WORDS]


def ip_address(field: str, value: str) -> Errors:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        words = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
        yield invalid(field, value, words)


def ip_block(field: str, value: str) -> Errors:
    try:
        ipaddress.ip_network(value if "/" in value else "", strict=False)
    except ValueError:
        words = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
        yield invalid(field, value, words)


# Paths


def no_way_up(field: str, path: str) -> Errors:
    if ".." in path.split("/"):
        yield invalid(field, path, "must not contain '..'")


def way_down(field: str, path: str) -> Errors:
    if path.startswith("/"):
        yield invalid(field, path, "must be a relative path")
    yield from no_way_up(field, path)


def own_path(field: str, path: str) -> Errors:
    """A place for a file, where names of two dots belong to whoever writes the folder."""
    yield from way_down(field, path)
    if path.startswith("..") and not path.startswith("../"):
        yield invalid(field, path, "must not start with '..'")


# Labels


def labels(field: str, found: dict[str, str]) -> Errors:
    for key, value in found.items():
        yield from named(field, key, names.qualified)
        yield from named(field, value, names.label_value)
