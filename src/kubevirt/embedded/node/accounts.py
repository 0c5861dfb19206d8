"""The users and groups that an image knows: its own passwd and group, read with care."""

from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base.errors import UserError
from kubevirt.base.files import Root

_LIMIT: Final = 1 << 20


class Account(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    user: int
    group: int
    home: str = "/"


class Accounts(msgspec.Struct, frozen=True, kw_only=True):
    users: tuple[Account, ...] = ()
    groups: tuple[tuple[str, int, tuple[str, ...]], ...] = ()
    """Name, number and the names of its members."""

    def user(self, text: str) -> Account | None:
        """By name, or by number."""
        number = int(text) if text.isdecimal() else None
        return next((each for each in self.users if text == each.name or number == each.user), None)

    def group(self, text: str) -> int | None:
        if text.isdecimal():
            return int(text)
        return next((number for name, number, _ in self.groups if name == text), None)

    def groups_of(self, name: str) -> tuple[int, ...]:
        return tuple(number for _, number, members in self.groups if name in members)


BUILT_IN: Final = Accounts(users=(Account(name="root", user=0, group=0, home="/root"),))
"""Of the image that is this machine's /usr: whom the machine itself knows is no business of a pod."""


def read(root: Path | None) -> Accounts:
    if root is None:
        return BUILT_IN
    try:
        with Root.open(root) as opened:
            return Accounts(
                users=_users(_text(opened, "etc/passwd")),
                groups=_groups(_text(opened, "etc/group")),
            )
    except OSError:
        return Accounts()


def _text(root: Root, path: str) -> str:
    """Nothing of a file that is not there, is a link, or is too long to be one of its kind."""
    try:
        return root.read(path, limit=_LIMIT).decode(errors="replace")
    except (OSError, UserError):
        return ""


def _users(text: str) -> tuple[Account, ...]:
    rows = [line.split(":") for line in text.splitlines()]
    return tuple(
        Account(name=row[0], user=int(row[2]), group=int(row[3]), home=row[5] or "/")
        for row in rows
        if len(row) >= 6 and row[2].isdecimal() and row[3].isdecimal()
    )


def _groups(text: str) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    rows = [line.split(":") for line in text.splitlines()]
    return tuple(
        (row[0], int(row[2]), tuple(filter(None, row[3].split(","))))
        for row in rows
        if len(row) >= 4 and row[2].isdecimal()
    )
