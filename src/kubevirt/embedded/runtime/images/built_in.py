"""The image that is this machine: its /usr, and a list of what else may be seen (`runtime/sandbox.py`)."""

from typing import Final

from kubevirt.base.commands import SEARCH_PATH
from kubevirt.embedded.node.neighbours import Image, ImageConfig
from kubevirt.host.oci.reference import Reference

NAME: Final = "kubevirt.io/built-in"
IMAGE: Final = Image(
    id=NAME,
    config=ImageConfig(
        command=("sleep", "infinity"),  # something that stays, to look around in
        environment=(f"PATH={SEARCH_PATH}",),
    ),
)


def is_built_in(name: Reference) -> bool:
    """By any tag: there is one of it only."""
    return f"{name.registry}/{name.repository}" == NAME and name.digest is None
