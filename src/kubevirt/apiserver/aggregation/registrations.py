"""All APIServices, as they are stored right now: who serves a version of a group.

`generation` counts changes, so that what is made from them can be kept until then.
"""

from collections.abc import Iterator

import msgspec

from kubevirt.apiserver.aggregation.registration import Registration


class Registrations:
    def __init__(self) -> None:
        self.generation = 0
        self._by_name: dict[str, Registration] = {}
        self._elsewhere: dict[tuple[str, str], Registration] = {}

    def get(self, name: str) -> Registration | None:
        return self._by_name.get(name)

    def put(self, registration: Registration) -> None:
        if self._by_name.get(registration.name) == registration:
            return
        self.remove(registration.name)
        self._by_name[registration.name] = registration
        if registration.service:
            self._elsewhere[registration.group, registration.version] = registration

    def remove(self, name: str) -> None:
        self.generation += 1
        if gone := self._by_name.pop(name, None):
            self._elsewhere.pop((gone.group, gone.version), None)

    def judged(self, registration: Registration, *, is_available: bool) -> None:
        """Known before it is written, so that nobody can read what is not yet so. One that was changed
        meanwhile is not the one that was judged.
        """
        known = self._by_name.get(registration.name)
        if known and known.is_same_but_for_availability(registration):
            self.put(msgspec.structs.replace(known, is_available=is_available))

    def serving(self, group: str, version: str) -> Registration | None:
        """None if it is served here, or not at all."""
        return self._elsewhere.get((group, version))

    @property
    def elsewhere(self) -> Iterator[Registration]:
        """Those that others serve."""
        return iter(tuple(self._elsewhere.values()))
