"""The registry: everything the verbs share. Who serves it is in `http/`, what they do in their own files."""

from typing import Any

from kubevirt.api.meta import StatusCause, StatusDetails
from kubevirt.apiserver import refusals
from kubevirt.apiserver.kinds.catalog import Catalog
from kubevirt.apiserver.kinds.kind import Kind
from kubevirt.apiserver.refusals import Refusal, refusal
from kubevirt.apiserver.registry import stored
from kubevirt.apiserver.registry.admission import Admission
from kubevirt.apiserver.registry.answering import Answerer, Endpoint
from kubevirt.apiserver.registry.call import Call
from kubevirt.apiserver.registry.chance import Chance
from kubevirt.apiserver.registry.served import Served
from kubevirt.apiserver.schema.structural import Pool
from kubevirt.apiserver.storage.records import Entry
from kubevirt.apiserver.storage.store import Store
from kubevirt.base.clock import Clock

Object = dict[str, Any]


class Registry:
    def __init__(
        self,
        store: Store,
        catalog: Catalog,
        *,
        clock: Clock,
        chance: Chance,
        admission: Admission | None = None,
    ) -> None:
        self.store = store
        self.catalog = catalog
        self.clock = clock
        self.chance = chance
        self.admission = admission or Admission()
        self.answerers: dict[Endpoint, Answerer] = {}
        self._pool = Pool()
        self._served: dict[str, Served] = {}

    def served(self, kind: Kind) -> Served:
        name = kind.group_resource
        found = self._served.get(name)
        if found is None or found.kind is not kind:
            found = self._served[name] = Served(kind, self._pool)
        return found

    def now(self) -> str:
        return self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    async def read(self, call: Call) -> tuple[Entry, Object]:
        """The object that a call names, in its version. Refuses where there is none."""
        entry = await self.store.get(call.key)
        if entry is None:
            raise refusals.not_found(call.kind, call.name)
        return entry, stored.object_of(entry, call.api_version)

    async def home(self, call: Call, name: str) -> Entry | None:
        """The namespace that a new object will be in, which must be there and stay."""
        if not call.kind.namespaced:
            return None
        namespaces = self.catalog.namespaces
        entry = await self.store.get(namespaces.key("", call.namespace))
        if entry is None:
            raise refusals.not_found(namespaces, call.namespace)
        if b'"deletionTimestamp":' in entry.value:
            namespace = stored.object_of(entry, "v1")
            if namespace["metadata"].get("deletionTimestamp"):
                raise _terminating(call, name)
        return entry


def _terminating(call: Call, name: str) -> Refusal:
    kind, namespace = call.kind, call.namespace
    words = f"unable to create new content in namespace {namespace} because it is being terminated"
    reason = StatusCause(
        reason="NamespaceTerminating",
        message=f"namespace {namespace} is being terminated",
        field="metadata.namespace",
    )
    details = StatusDetails(name=name, group=kind.group, kind=kind.names.plural, causes=(reason,))
    subject = f'{kind.group_resource} "{name}"'
    return refusal(403, "Forbidden", f"{subject} is forbidden: {words}", details=details)
