"""Why a container image cannot be used.

UserError
└── ContainerImageError    the image, its name or where it comes from must change
Retry
├── Unreachable
│   └── RegistryError      the registry does not answer, or not as it should; another try may help
└── CacheError             this machine cannot keep the image now
"""

from kubevirt.base.errors import Retry, Unreachable, UserError


class ContainerImageError(UserError):
    """Missing, cut short, changed on the way, or dangerous."""

    def __init__(self, message: str, *, reason: str = "InvalidContainerImage") -> None:
        super().__init__(message, reason=reason)


class RegistryError(Unreachable):
    pass


class CacheError(Retry):
    pass


def shown(value: object) -> str:
    """A value from outside inside a sentence: quoted, shortened, control characters escaped."""
    text = str(value)
    return repr(text if len(text) <= 120 else f"{text[:117]}...")
