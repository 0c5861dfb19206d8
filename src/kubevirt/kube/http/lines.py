"""Lines out of a stream that comes in pieces."""

from collections.abc import Iterator


class Lines:
    """Collects pieces and gives whole lines. `rest` is what still lacks its end."""

    def __init__(self) -> None:
        self.rest = b""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        *whole, self.rest = (self.rest + piece).split(b"\n")
        return (line for line in whole if line and not line.isspace())
