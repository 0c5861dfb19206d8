"""Events, which two APIs show: the same object, but for the names of some fields.

They lie in the store as the older API has them. The newer one, `events.k8s.io`, says `note` where the
older says `message`, and calls deprecated what only old clients write.
"""

from collections.abc import Mapping
from typing import Any, Final

from kubevirt.apiserver.registry.gostructs import written

Object = dict[str, Any]

NEWER: Final = "events.k8s.io/v1"
OLDER: Final = "v1"
_NEWER_NAMES: Final = {
    "count": "deprecatedCount",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "involvedObject": "regarding",
    "lastTimestamp": "deprecatedLastTimestamp",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
}
_OLDER_NAMES: Final = {newer: older for older, newer in _NEWER_NAMES.items()}


def as_newer(event: Mapping[str, Any]) -> Object:
    made = {_NEWER_NAMES.get(name, name): value for name, value in event.items()}
    return written({**made, "apiVersion": NEWER}, "events.Event")


def as_older(event: Object) -> Object:
    made = {_OLDER_NAMES.get(name, name): value for name, value in event.items()}
    return written({**made, "apiVersion": OLDER}, "Event")
