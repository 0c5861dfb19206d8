"""What an image says about how it is run: its configuration, as JSON of a stranger."""

from typing import Final

import msgspec

from kubevirt.embedded.node.neighbours import ImageConfig
from kubevirt.host.oci.errors import ContainerImageError

_MOST_WORDS: Final = 4096


class _Run(msgspec.Struct, frozen=True, rename="pascal"):
    entrypoint: tuple[str, ...] | None = None
    cmd: tuple[str, ...] | None = None
    env: tuple[str, ...] | None = None
    user: str | None = None
    working_dir: str | None = None
    stop_signal: str | None = None


class _Configuration(msgspec.Struct, frozen=True):
    config: _Run | None = None


def read(data: bytes, name: str) -> ImageConfig:
    """`name` is the image's, for messages; no data is an image that says nothing."""
    if not data:
        return ImageConfig()
    try:
        run = msgspec.json.decode(data, type=_Configuration).config or _Run()
    except (msgspec.DecodeError, RecursionError) as error:
        raise ContainerImageError(
            f"image {name} is refused: its configuration cannot be read ({error})"
        ) from None
    words = (*(run.entrypoint or ()), *(run.cmd or ()), *(run.env or ()))
    if len(words) > _MOST_WORDS or any("\0" in word for word in words):
        raise ContainerImageError(
            f"image {name} is refused: its command or its variables are none that a program can have"
        )
    return ImageConfig(
        entrypoint=run.entrypoint or (),
        command=run.cmd or (),
        environment=tuple(each for each in run.env or () if "=" in each[1:]),
        user=run.user or "",
        folder=run.working_dir or "/",
        stop_signal=run.stop_signal or "",
    )
