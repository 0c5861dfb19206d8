"""The headers of a request: names in any case, values in their order."""

from collections.abc import Iterable, Iterator
from urllib.parse import unquote


class Headers:
    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name.lower(), []).append(value)

    def first(self, name: str) -> str:
        return self._values.get(name.lower(), [""])[0]

    def all(self, name: str) -> tuple[str, ...]:
        return tuple(self._values.get(name.lower(), ()))

    def below(self, prefix: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """What follows the prefix, decoded, with its values."""
        prefix = prefix.lower()
        for name, values in self._values.items():
            if name.startswith(prefix) and name != prefix:
                yield unquote(name.removeprefix(prefix)), tuple(values)
