"""Tables of events: when, what, about whom."""

from typing import Any, Final

from kubevirt.apiserver.kinds.columns.ages import age
from kubevirt.apiserver.kinds.columns.cells import Object, at

HEADER: Final = (
    "Last Seen, Type, Reason, Object, +Subobject, +Source, Message, +First Seen, +Count, +Name"
)


def row(object_: Object, now: float) -> list[Any]:
    about = object_.get("involvedObject") or object_.get("regarding") or {}
    first = object_.get("firstTimestamp") or object_.get("deprecatedFirstTimestamp")
    last = object_.get("lastTimestamp") or object_.get("deprecatedLastTimestamp")
    series = object_.get("series") or {}
    seen = age(first or object_.get("eventTime"), now)
    kind, name = about.get("kind", ""), about.get("name", "")
    return [
        age(series.get("lastObservedTime") or last, now) if series or last else seen,
        object_.get("type", ""),
        object_.get("reason", ""),
        f"{kind.lower()}/{name}" if name else kind.lower(),
        about.get("fieldPath", ""),
        _source(object_),
        (object_.get("message") or object_.get("note") or "").strip(),
        seen,
        series.get("count") or object_.get("count") or object_.get("deprecatedCount") or 1,
        at(object_, "metadata", "name"),
    ]


def _source(object_: Object) -> str:
    source = object_.get("source") or object_.get("deprecatedSource") or {}
    component = source.get("component") or object_.get("reportingComponent")
    component = component or object_.get("reportingController") or ""
    host = source.get("host") or object_.get("reportingInstance") or ""
    return f"{component}, {host}" if host else component
