"""What users are told beside an object's status: an event, as data."""

import msgspec


class Happening(msgspec.Struct, frozen=True):
    reason: str
    message: str
    is_warning: bool = False


class Failure(msgspec.Struct, frozen=True):
    """What came of the last try to do something for an object, if it went wrong."""

    reason: str
    message: str
