"""One leader among many, and what it runs.

    await VirtController(client, clock, configuration, settings).run()       # until cancelled

Who does not lead watches as well, and so is ready at once. Whoever has lost the lead stands for election again; a program
need not end for that, since what it does next is decided from the caches anew.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background
from kubevirt.components.controller.caches import Caches
from kubevirt.components.controller.instances.controller import InstanceController
from kubevirt.components.controller.machines.controller import MachineController
from kubevirt.components.controller.metrics import figures
from kubevirt.components.controller.nodes import NodeController
from kubevirt.components.controller.settings import LEASE, Settings
from kubevirt.components.controller.transitions import Transitions
from kubevirt.kube.client import Client
from kubevirt.kube.events import EventRecorder
from kubevirt.kube.http.health import Health, Page
from kubevirt.kube.leader import LeaderElector, LeadershipLost
from kubevirt.kube.metrics import Metrics

COMPONENT = "virtualmachine-controller"
"""Who tells of events. Upstream's name, for both kinds."""

AtWork = Callable[[], AbstractContextManager[None]]

log = get_logger(__name__)


class VirtController:
    def __init__(
        self,
        client: Client,
        clock: Clock,
        configuration: Callable[[], KubeVirtConfiguration],
        settings: Settings,
        *,
        at_work: AtWork = nullcontext,
    ) -> None:
        """`at_work` is entered while it leads and its caches are complete."""
        self._at_work = at_work
        self._configuration = configuration
        self._clock = clock
        self.caches = Caches.of(client, clock)
        self.recorder = EventRecorder(client, component=COMPONENT, clock=clock)
        self.elector = LeaderElector(
            client,
            namespace=settings.namespace,
            name=LEASE,
            identity=settings.identity,
            clock=clock,
            settings=settings.election,
        )
        self.machines = MachineController(
            client,
            clock,
            self.caches,
            self.recorder,
            workers=settings.machine_workers,
            before_each=self.elector.assert_leader,
        )
        self.instances = InstanceController(
            client,
            clock,
            self.caches,
            self.recorder,
            configuration=configuration,
            launcher_image=settings.launcher_image,
            workers=settings.instance_workers,
            before_each=self.elector.assert_leader,
        )
        self.nodes = NodeController(
            client,
            clock,
            self.caches,
            workers=settings.node_workers,
            before_each=self.elector.assert_leader,
        )

    async def run(self) -> None:
        async with self.recorder.running(), background(self.caches.run()):
            while True:
                try:
                    await self.elector.run(self._lead)
                except LeadershipLost as lost:
                    log.warning("another may lead now; this one stands again", reason=str(lost))

    async def _lead(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.machines.run())
            tasks.create_task(self.instances.run())
            tasks.create_task(self.nodes.run())
            await self.caches.wait_synced()
            with self._at_work():
                await asyncio.Event().wait()

    def show(self, metrics: Metrics, health: Health, pages: dict[str, Page]) -> None:
        """What there is to see from outside."""
        pages["/leader"] = self._leading
        metrics.add_leadership("virt-controller", lambda: self.elector.is_leader)
        metrics.add_controller(self.machines.controller)
        metrics.add_controller(self.instances.controller)
        metrics.add_controller(self.nodes.controller)
        metrics.add(lambda: figures(self.caches, self._configuration()))
        metrics.add(Transitions(self.caches, self._clock).figures)
        health.add("caches", self._lagging)

    def _leading(self) -> dict[str, dict[str, str]]:
        """In upstream's words, by which programs and people look for the one that leads."""
        return {"apiserver": {"leader": str(self.elector.is_leader).lower()}}

    def _lagging(self) -> str:
        missing = [
            each.resource.group_resource for each in self.caches.informers if not each.is_synced
        ]
        return f"not complete yet: {', '.join(missing)}" if missing else ""
