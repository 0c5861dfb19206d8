"""Events of both APIs: old clients may leave out much, those of the newer API little."""

from typing import Final

from kubevirt.apiserver.registry.rules import checks
from kubevirt.apiserver.registry.rules.checks import Errors
from kubevirt.apiserver.registry.rules.rules import Object, Rules
from kubevirt.apiserver.schema import names
from kubevirt.apiserver.schema.field_errors import FieldError, invalid, required
from kubevirt.apiserver.schema.plain import is_same

_LIMITS: Final = {"reportingInstance": 128, "action": 128, "reason": 128}
_NOTE_LIMIT: Final = 1024
_TYPES: Final = ("Normal", "Warning")
_UNSET: Final = {
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
_FIXED: Final = {
    "regarding": "involvedObject",
    "reason": "reason",
    "note": "message",
    "type": "type",
    "action": "action",
    "related": "related",
    "reportingController": "reportingController",
    "reportingInstance": "reportingInstance",
}


class EventRules(Rules):
    def __init__(self, *, is_newer: bool) -> None:
        super().__init__(is_created_by_update=True)
        self._is_newer = is_newer
        self._about = "regarding" if is_newer else "involvedObject"
        self._note = "note" if is_newer else "message"
        self._reporter = "reportingController" if is_newer else "reportingComponent"

    def errors_of_new(self, new: Object, *, is_namespaced: bool) -> list[FieldError]:
        """Of the metadata of old events only the name is looked at, and hardly that: some clients put
        characters into it that do not belong there.
        """
        if not self._is_newer:
            return self._of_name(new["metadata"].get("name", "")) or self.errors(new)
        found = super().errors_of_new(new, is_namespaced=is_namespaced)
        return found + list(self._of_newer(new))

    def _of_name(self, name: str) -> list[FieldError]:
        if not name:
            return [required("metadata.name", "name or generateName is required")]
        return [invalid("metadata.name", name, words) for words in names.path_segment(name)]

    def errors(self, object_: Object) -> list[FieldError]:
        return list(self._errors(object_))

    def _errors(self, event: Object) -> Errors:
        home = event["metadata"].get("namespace", "")
        about = (event.get(self._about) or {}).get("namespace", "")
        field, words = "involvedObject.namespace", "does not match event.namespace"
        if not event.get("eventTime"):
            if about != home and (about or home != "default"):
                yield invalid(field, about, words)
            return
        if not about and home not in ("default", "kube-system"):
            yield invalid(field, about, words)
        reporter = event.get(self._reporter, "")
        if not reporter:
            yield required(self._reporter)
        yield from checks.named(self._reporter, reporter, names.qualified)
        for name, limit in _LIMITS.items():
            text = event.get(name, "")
            if not text:
                yield required(name)
            if len(text.encode()) > limit:
                yield invalid(name, "", f"can have at most {limit} characters")
        if len(event.get(self._note, "").encode()) > _NOTE_LIMIT:
            yield invalid("message", "", f"can have at most {_NOTE_LIMIT} characters")

    def _of_newer(self, event: Object) -> Errors:
        yield from _series(event)
        if not event.get("eventTime"):
            yield required("eventTime")
        kind = event.get("type", "")
        if kind not in _TYPES:
            yield invalid("type", "", f"has invalid value: {kind}")
        for name, shown in _UNSET.items():
            if event.get(name):
                yield invalid(shown, "", "needs to be unset")
        if any((event.get("deprecatedSource") or {}).values()):
            yield invalid("source", "", "needs to be unset")

    def errors_of_change(self, new: Object, old: Object) -> list[FieldError]:
        found = self.errors(new)
        if not self._is_newer:
            return found
        if not is_same(new.get("series"), old.get("series")):
            found += _series(new)
        return found + [
            invalid(shown, new.get(name), "field is immutable")
            for name, shown in _FIXED.items()
            if not is_same(new.get(name), old.get(name))
        ]


def _series(event: Object) -> Errors:
    if (series := event.get("series")) is None:
        return
    if series.get("count", 0) < 2:
        yield invalid("series.count", "", "should be at least 2")
    if not series.get("lastObservedTime"):
        yield required("series.lastObservedTime")
