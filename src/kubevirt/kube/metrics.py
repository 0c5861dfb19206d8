"""Metrics of one process, under the names that dashboards and alerts made for KubeVirt know.

    metrics = Metrics()
    metrics.add_queue(queue)
    metrics.add_leadership("virt-controller", lambda: elector.is_leader)
    metrics.text()               # what /metrics answers

Nothing is written here while the program works. Queues, controllers and clients keep their own plain
numbers, and a scrape reads them. There is no global registry: a process that plays several
components has one `Metrics` for each.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isinf
from platform import python_version
from typing import Any, Literal

from msgspec import Struct
from prometheus_client import CollectorRegistry, ProcessCollector, exposition
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from kubevirt.kube.controller import Controller
from kubevirt.kube.histogram import Histogram
from kubevirt.kube.http.traffic import Traffic
from kubevirt.kube.queue import WorkQueue

CONTENT_TYPE = exposition.CONTENT_TYPE_PLAIN_1_0_0
Labels = Mapping[str, str]


class Family(Struct, frozen=True):
    """All series of one name. A value is a number, or a `Histogram` if that is the kind."""

    name: str
    kind: Literal["gauge", "counter", "histogram"]
    help: str
    series: list[tuple[Labels, float | Histogram]]


Source = Callable[[], Iterable[Family]]


class Metrics:
    def __init__(self) -> None:
        self._sources: list[Source] = []
        self._registry = CollectorRegistry()
        self._registry.register(_Everything(self._sources))
        ProcessCollector(registry=self._registry)

    def add(self, source: Source) -> None:
        """`source` is asked at each scrape. It must be quick and may not wait."""
        self._sources.append(source)

    def add_queue(self, queue: WorkQueue[Any]) -> None:
        self.add(lambda: _of_queue(queue))

    def add_controller(self, controller: Controller[Any]) -> None:
        """The controller and its queue."""
        self.add_queue(controller.queue)
        self.add(lambda: _of_controller(controller))

    def add_traffic(self, traffic: Traffic) -> None:
        self.add(lambda: _of_traffic(traffic))

    def add_leadership(self, component: str, is_leader: Callable[[], bool]) -> None:
        """Whether this process leads `component`."""
        name = f"kubevirt_{component.replace('-', '_')}_leading_status"
        self._add_flag(name, f"Whether this {component} leads.", is_leader)

    def add_readiness(self, component: str, is_ready: Callable[[], bool]) -> None:
        """Whether this process could do the work of `component`."""
        name = f"kubevirt_{component.replace('-', '_')}_ready_status"
        self._add_flag(name, f"Whether this {component} is ready to work or to lead.", is_ready)

    def add_version(self, version: str) -> None:
        """Which KubeVirt this is. KubeVirt's name for the label of the language stays, whichever it is."""
        labels = {"goversion": f"python{python_version()}", "kubeversion": version}
        self.add(lambda: [Family("kubevirt_info", "gauge", "Version.", [(labels, 1.0)])])

    def text(self) -> bytes:
        """Everything, in Prometheus' text format (`CONTENT_TYPE`)."""
        return exposition.generate_latest(self._registry)

    def _add_flag(self, name: str, help_: str, is_set: Callable[[], bool]) -> None:
        self.add(lambda: [Family(name, "gauge", help_, [({}, float(is_set()))])])


class _Everything(Collector):
    """The bridge to prometheus_client: families of one name from several sources become one."""

    def __init__(self, sources: list[Source]) -> None:
        self._sources = sources

    def describe(self) -> Iterable[Metric]:
        return ()  # or registering would already ask every source

    def collect(self) -> Iterable[Metric]:
        metrics: dict[str, Metric] = {}
        for source in self._sources:
            for family in source():
                name = (
                    family.name.removesuffix("_total") if family.kind == "counter" else family.name
                )
                metric = metrics.setdefault(name, Metric(name, family.help, family.kind))
                for labels, value in family.series:
                    _add_samples(metric, family.name, dict(labels), value)
        return metrics.values()


def _add_samples(
    metric: Metric, name: str, labels: dict[str, str], value: float | Histogram
) -> None:
    if not isinstance(value, Histogram):
        metric.add_sample(name, labels, value)
        return
    for edge, count in value.cumulative():
        le = "+Inf" if isinf(edge) else repr(edge).removesuffix(".0")  # as Go writes it
        metric.add_sample(f"{name}_bucket", {**labels, "le": le}, count)
    metric.add_sample(f"{name}_count", labels, value.count)
    metric.add_sample(f"{name}_sum", labels, value.total)


def _of_queue(queue: WorkQueue[Any]) -> Iterator[Family]:
    def one(
        name: str, kind: Literal["gauge", "counter", "histogram"], help_: str, value: Any
    ) -> Family:
        return Family(f"kubevirt_workqueue_{name}", kind, help_, [({"name": queue.name}, value)])

    yield one("depth", "gauge", "Keys that wait.", queue.depth)
    yield one("adds_total", "counter", "Keys that were added.", queue.adds)
    yield one("retries_total", "counter", "Keys that were added after a failure.", queue.retries)
    yield one(
        "queue_duration_seconds",
        "histogram",
        "How long a key waited for a worker.",
        queue.queue_duration,
    )
    yield one(
        "work_duration_seconds", "histogram", "How long a worker had a key.", queue.work_duration
    )
    yield one(
        "unfinished_work_seconds",
        "gauge",
        "How long workers have had their present keys, all together; it grows when they are stuck.",
        queue.unfinished_s,
    )
    yield one(
        "longest_running_processor_seconds",
        "gauge",
        "How long the slowest worker has had its present key.",
        queue.longest_running_s,
    )


def _of_controller(controller: Controller[Any]) -> Iterator[Family]:
    yield Family(
        "kubevirt_controller_reconciles_total",
        "counter",
        "Reconciles by how they ended: done, after, retry, user_error or bug.",
        [
            ({"name": controller.name, "outcome": outcome}, count)
            for outcome, count in controller.outcomes.items()
        ],
    )


def _of_traffic(traffic: Traffic) -> Iterator[Family]:
    labels = ("code", "method", "host", "resource", "verb")
    yield Family(
        "kubevirt_rest_client_requests_total",
        "counter",
        "Requests to the API server, by answer and by what was asked for.",
        [(dict(zip(labels, key, strict=True)), n) for key, n in traffic.requests.items()],
    )
    yield Family(
        "kubevirt_rest_client_request_latency_seconds",
        "histogram",
        "How long the API server took to answer.",
        [({"verb": verb, "url": url}, times) for (verb, url), times in traffic.latency.items()],
    )
    yield Family(
        "kubevirt_rest_client_rate_limiter_duration_seconds",
        "histogram",
        "How long requests were held back because the API server asked for it.",
        [({"verb": verb, "url": url}, times) for (verb, url), times in traffic.waits.items()],
    )
