"""The CustomResourceDefinitions, as files written by `make generate` (never by hand).

They are JSON because they are read whenever an installation starts: all of them parse in the time
that YAML takes for one. `kubectl apply -f` reads the folder as it is.
"""

from importlib import resources
from typing import Any

import msgspec


def load() -> list[dict[str, Any]]:
    """All definitions, in the order of their names."""
    return [msgspec.json.decode(content, type=dict[str, Any]) for content in contents()]


def contents() -> list[bytes]:
    """The same as they lie on the disk: for who has to know only whether they are others than before."""
    files = (file for file in resources.files(__name__).iterdir() if file.name.endswith(".json"))
    return [file.read_bytes() for file in sorted(files, key=lambda file: file.name)]
