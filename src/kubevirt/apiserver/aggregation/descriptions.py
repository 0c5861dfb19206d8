"""What all of those say that they serve, who serve a part of the API elsewhere.

`generation` counts changes, so that what is made from them can be kept until then.
"""

from kubevirt.apiserver.aggregation.description import Description


class Descriptions:
    """By the names of their APIServices. Whom nobody has asked yet is not known to serve anything."""

    def __init__(self) -> None:
        self.generation = 0
        self._found: dict[str, Description] = {}

    def get(self, name: str) -> Description:
        return self._found.get(name) or Description()

    def put(self, name: str, found: Description) -> None:
        if self._found.get(name) != found:
            self._found[name] = found
            self.generation += 1

    def remove(self, name: str) -> None:
        if self._found.pop(name, None):
            self.generation += 1
