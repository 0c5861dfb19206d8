"""The settings of the installation, as they are now.

    async with following(client, clock) as configuration:
        configuration()                      # a KubeVirtConfiguration; ask each time, keep it nowhere
        configuration.add_listener(act)      # told of each that differs from the one before

They stand in the KubeVirt object. Where there is none, or none yet, the defaults hold. An object that cannot be
read changes nothing: what was last understood goes on.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.installation import KubeVirt
from kubevirt.api.scheme import KUBEVIRTS
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background
from kubevirt.kube.cache.store import Change
from kubevirt.kube.informer import Informer
from kubevirt.kube.source import Source
from kubevirt.virt.install.options import NAMESPACE

log = get_logger(__name__)

PATIENCE_S: Final = 60.0
"""For the server to say what the settings are. Without, a component would act on ones that nobody made."""

Listener = Callable[[KubeVirtConfiguration], None]


class LiveConfiguration:
    """Called, it is the configuration of the moment."""

    def __init__(self, objects: Informer[KubeVirt]) -> None:
        self._objects = objects
        self._current = KubeVirtConfiguration()
        self._listeners: list[Listener] = []
        objects.add_handler(self._heed)

    def __call__(self) -> KubeVirtConfiguration:
        return self._current

    def add_listener(self, listener: Listener) -> None:
        """It hears of the present one at once. It has to be quick, as all handlers of informers."""
        self._listeners.append(listener)
        listener(self._current)

    def _heed(self, _: Change[KubeVirt]) -> None:
        found = _chosen(self._objects)
        new = found.spec.configuration if found else KubeVirtConfiguration()
        if new == self._current:
            return
        log.info("the configuration changed")
        self._current = new
        for listener in self._listeners:
            listener(new)


@asynccontextmanager
async def following(
    source: Source, clock: Clock, *, namespace: str = NAMESPACE
) -> AsyncIterator[LiveConfiguration]:
    """Known from the first line of the body on. Raises `Retry` if the server does not say it in time."""
    objects = Informer(source, KUBEVIRTS, clock=clock, namespace=namespace)
    configuration = LiveConfiguration(objects)
    async with background(objects.run()):
        try:
            async with clock.timeout(PATIENCE_S):
                await objects.wait_synced()
        except TimeoutError:
            raise Retry(
                f"the KubeVirt object of namespace {namespace} could not be read within {PATIENCE_S:g} s: "
                f"{objects.last_error or 'the server does not answer'}"
            ) from None
        yield configuration


def _chosen(objects: Informer[KubeVirt]) -> KubeVirt | None:
    """There is one. Were there more, the eldest would count for everybody, and not the last one heard of."""
    return min(objects, key=_age, default=None)


def _age(found: KubeVirt) -> tuple[str, str]:
    created = found.metadata.creation_timestamp
    return (created.isoformat() if created else "", found.metadata.uid)
