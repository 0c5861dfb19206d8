"""Metrics as Prometheus reads them, under KubeVirt's names."""

import platform

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kubevirt.api.scheme import CONFIG_MAPS, NODES, VIRTUAL_MACHINE_INSTANCES
from kubevirt.base.clock import Clock
from kubevirt.kube.controller import DONE, Controller, Result
from kubevirt.kube.histogram import Histogram, exponential
from kubevirt.kube.http.traffic import Traffic
from kubevirt.kube.metrics import Family, Metrics
from kubevirt.kube.queue import WorkQueue

pytestmark = pytest.mark.virtual_time


def scrape(metrics: Metrics) -> dict[str, float]:
    """Every sample by its name and labels, as a line of the text has them."""
    return {
        sample.name + str(dict(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


def types(metrics: Metrics) -> dict[str, str]:
    families = text_string_to_metric_families(metrics.text().decode())
    return {family.name: family.type for family in families}


async def test_queues_are_shown_under_the_names_that_dashboards_know(clock: Clock) -> None:
    metrics = Metrics()
    queue: WorkQueue[str] = WorkQueue("virt-controller-vm", clock)
    metrics.add_queue(queue)
    queue.add("a")
    queue.add("b")
    queue.add("c")
    await clock.sleep(2)
    queue.done(await queue.get())
    await queue.get()
    queue.retry("c")
    await clock.sleep(3)

    label = "{'name': 'virt-controller-vm'}"
    samples = scrape(metrics)
    values = {
        name: samples[f"kubevirt_workqueue_{name}{label}"]
        for name in (
            *("depth", "adds_total", "retries_total", "unfinished_work_seconds"),
            *("longest_running_processor_seconds", "queue_duration_seconds_count"),
            *("queue_duration_seconds_sum", "work_duration_seconds_count"),
        )
    }
    assert values == {
        "depth": 1,
        "adds_total": 3,
        "retries_total": 1,
        "unfinished_work_seconds": 3,
        "longest_running_processor_seconds": 3,
        "queue_duration_seconds_count": 2,
        "queue_duration_seconds_sum": 4,
        "work_duration_seconds_count": 1,
    }
    bucket = (
        "kubevirt_workqueue_queue_duration_seconds_bucket{'le': '%s', 'name': 'virt-controller-vm'}"
    )
    assert samples[bucket % "1"] == 0
    assert samples[bucket % "10"] == 2
    assert samples[bucket % "+Inf"] == 2
    assert bucket % "9.999999999999999e-06" in samples, "written and rounded as Go does"
    assert types(metrics)["kubevirt_workqueue_adds"] == "counter"
    assert types(metrics)["kubevirt_workqueue_work_duration_seconds"] == "histogram"


async def test_several_queues_are_series_of_one_family(clock: Clock) -> None:
    metrics = Metrics()
    for name in ("vm", "vmi"):
        metrics.add_queue(WorkQueue(name, clock))
    text = metrics.text().decode()
    assert text.count("# TYPE kubevirt_workqueue_depth gauge") == 1
    assert 'kubevirt_workqueue_depth{name="vm"} 0.0' in text
    assert 'kubevirt_workqueue_depth{name="vmi"} 0.0' in text


async def test_a_controller_shows_how_its_reconciles_ended(clock: Clock) -> None:
    async def reconcile(key: str) -> Result:
        return DONE

    metrics = Metrics()
    queue: WorkQueue[str] = WorkQueue("vm", clock)
    controller = Controller("vm", reconcile, queue=queue, clock=clock)
    metrics.add_controller(controller)
    queue.add("a")
    queue.close()
    await controller.run()
    samples = scrape(metrics)
    assert samples["kubevirt_controller_reconciles_total{'name': 'vm', 'outcome': 'done'}"] == 1
    assert samples["kubevirt_workqueue_adds_total{'name': 'vm'}"] == 1


async def test_a_program_tells_its_version() -> None:
    metrics = Metrics()
    metrics.add_version("v1.2.3")
    labels = {"goversion": f"python{platform.python_version()}", "kubeversion": "v1.2.3"}
    assert scrape(metrics)[f"kubevirt_info{labels}"] == 1


async def test_leading_and_ready_are_asked_for_at_each_scrape() -> None:
    metrics = Metrics()
    states = {"leads": False}
    metrics.add_leadership("virt-controller", lambda: states["leads"])
    metrics.add_readiness("virt-controller", lambda: True)
    assert scrape(metrics)["kubevirt_virt_controller_leading_status{}"] == 0
    states["leads"] = True
    assert scrape(metrics)["kubevirt_virt_controller_leading_status{}"] == 1
    assert scrape(metrics)["kubevirt_virt_controller_ready_status{}"] == 1


async def test_requests_are_counted_by_what_was_asked_and_never_by_name() -> None:
    traffic = Traffic()
    origin = "https://10.0.0.1:6443"
    base = "/apis/kubevirt.io/v1/namespaces/demo/virtualmachineinstances"
    for method, path, code in [
        ("GET", f"{base}/one", 200),
        ("GET", f"{base}/two", 404),
        ("GET", base, 200),
        ("PATCH", f"{base}/one/status", 200),
        ("POST", base, None),
        ("PUT", f"{base}/one", 409),
        ("DELETE", f"{base}/one", 200),
    ]:
        traffic.answered(method, origin, path, VIRTUAL_MACHINE_INSTANCES, code=code, seconds=0.01)
    traffic.answered(
        "GET", origin, base, VIRTUAL_MACHINE_INSTANCES, is_watch=True, code=200, seconds=0.01
    )
    traffic.answered("GET", origin, "/api/v1/nodes/node01", NODES, code=200, seconds=0.01)
    traffic.answered("GET", origin, "/api/v1/configmaps", CONFIG_MAPS, code=200, seconds=0.01)
    traffic.answered("GET", origin, "/apis/kubevirt.io/v1/x/y", None, code=200, seconds=0.01)
    traffic.held_back("POST", origin, base, VIRTUAL_MACHINE_INSTANCES, 0.5)
    metrics = Metrics()
    metrics.add_traffic(traffic)
    samples = scrape(metrics)

    def requests(code: str, method: str, verb: str, resource: str) -> float:
        return samples[
            f"kubevirt_rest_client_requests_total{{'code': '{code}', 'host': '10.0.0.1:6443',"
            f" 'method': '{method}', 'resource': '{resource}', 'verb': '{verb}'}}"
        ]

    vmis = "virtualmachineinstances"
    assert requests("200", "GET", "GET", vmis) == 1
    assert requests("404", "GET", "GET", vmis) == 1
    assert requests("200", "GET", "LIST", vmis) == 1
    assert requests("200", "GET", "WATCH", vmis) == 1
    assert requests("200", "PATCH", "PATCH", vmis) == 1
    assert requests("<error>", "POST", "CREATE", vmis) == 1
    assert requests("409", "PUT", "UPDATE", vmis) == 1
    assert requests("200", "DELETE", "DELETE", vmis) == 1
    assert requests("200", "GET", "GET", "nodes") == 1
    assert requests("200", "GET", "LIST", "configmaps") == 1
    assert requests("200", "GET", "none", "none") == 1

    template = f"{origin}/apis/kubevirt.io/v1/namespaces/%7Bnamespace%7D/{vmis}"
    assert set(traffic.latency) == {
        ("GET", f"{template}/%7Bname%7D"),
        ("LIST", template),
        ("WATCH", template),
        ("PATCH", f"{template}/%7Bname%7D/status"),
        ("CREATE", template),
        ("UPDATE", f"{template}/%7Bname%7D"),
        ("DELETE", f"{template}/%7Bname%7D"),
        ("GET", f"{origin}/api/v1/nodes/%7Bname%7D"),
        ("LIST", f"{origin}/api/v1/configmaps"),
        ("GET", f"{origin}/apis/kubevirt.io/v1"),
    }
    get = f"{{'url': '{template}/%7Bname%7D', 'verb': 'GET'}}"
    assert samples[f"kubevirt_rest_client_request_latency_seconds_count{get}"] == 2
    create = f"{{'url': '{template}', 'verb': 'CREATE'}}"
    name = "kubevirt_rest_client_rate_limiter_duration_seconds"
    assert samples[f"{name}_sum{create}"] == 0.5


async def test_a_component_adds_families_of_its_own() -> None:
    metrics = Metrics()
    metrics.add(lambda: [Family("kubevirt_info", "gauge", "Version.", [({"goversion": "-"}, 1)])])
    assert scrape(metrics)["kubevirt_info{'goversion': '-'}"] == 1


async def test_the_process_itself_is_shown_and_two_processes_share_nothing() -> None:
    one, other = Metrics(), Metrics()
    one.add_leadership("virt-controller", lambda: True)
    assert "process_resident_memory_bytes{}" in scrape(one)
    assert not any(name.startswith("kubevirt_") for name in scrape(other))


def test_a_histogram_counts_a_value_in_the_bucket_it_is_at_most() -> None:
    histogram = Histogram(exponential(1, 10, 3))
    for value in (0.5, 1, 1.5, 100, 1000):
        histogram.observe(value)
    assert list(histogram.cumulative()) == [(1, 2), (10, 3), (100, 4), (float("inf"), 5)]
    assert (histogram.count, histogram.total) == (5, 1103)
