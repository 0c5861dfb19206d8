"""Root in a pod, which looks for secrets in every file that it can see.

SECRETS  what they are, by their names, in hexadecimal and from behind: whoever looks must not find themselves
FILES    device and inode of files that nobody may see, whatever is in them
SINCE    of the image itself only what was changed since is read: nothing else in it holds what was made later

The secret `control` it hides itself. It writes, as JSON, what it has found: names and paths.
"""

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

SECRETS = {
    name: bytes.fromhex(text)[::-1] for name, text in json.loads(os.environ["SECRETS"]).items()
}
FILES = {tuple(each) for each in json.loads(os.environ["FILES"])}
SINCE = float(os.environ["SINCE"])
IMAGE = "/usr/"
PIECE = 1 << 20
OVERLAP = max(map(len, SECRETS.values())) - 1
MOST_OF_THE_KERNELS = 4 << 20
"""Bytes of files that are the kernel's own words, of which some have no end."""


def main() -> None:
    # Where one piece ends and the next begins.
    Path("/tmp/control").write_bytes(b"." * (PIECE - 5) + SECRETS["control"])
    found = [[name, str(path)] for path in files() for name in found_in(path)]
    json.dump(found, sys.stdout)


def files() -> Iterator[Path]:
    for folder, _, names in os.walk("/"):
        yield from (path for path in (Path(folder, name) for name in names) if is_one(path))
    for path in Path("/proc").glob("[0-9]*/fd/*"):
        if is_one(path, follows=True):
            yield path


def is_one(path: Path, *, follows: bool = False) -> bool:
    """What is behind a link is seen elsewhere, but for those that stand for open files."""
    try:
        mode = path.stat(follow_symlinks=follows).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISBLK(mode)


def found_in(path: Path) -> Iterator[str]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return
    with os.fdopen(fd, "rb", buffering=0) as file:
        seen = os.fstat(fd)
        if (seen.st_dev, seen.st_ino) in FILES:
            yield "file"
        if seen.st_ctime >= SINCE or not str(path).startswith(IMAGE):
            is_kernels = str(path).startswith(("/proc/", "/sys/"))
            yield from said_in(file, MOST_OF_THE_KERNELS if is_kernels else sys.maxsize)


def said_in(file: BinaryIO, most: int) -> set[str]:
    found, before = set[str](), b""
    while most > 0:
        try:
            piece = file.read(PIECE)
        except OSError:
            break
        if not piece:  # the end, or nothing to read now
            break
        text = before + piece
        found |= {name for name, secret in SECRETS.items() if secret in text}
        before, most = text[-OVERLAP:], most - len(piece)
    return found


if __name__ == "__main__":
    main()
