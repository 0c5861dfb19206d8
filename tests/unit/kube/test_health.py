"""How a program tells how it is."""

import aiohttp
import pytest

from kubevirt.base.clock import SystemClock
from kubevirt.kube.http.health import Health, Page, telling
from kubevirt.kube.metrics import CONTENT_TYPE, Metrics

HOST = "127.0.0.1"


async def asked(port: int, path: str, method: str = "GET") -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, f"http://{HOST}:{port}{path}") as answer,
    ):
        return answer.status, await answer.text()


async def test_a_program_in_order_says_ok() -> None:
    health = Health()
    health.add("informers", lambda: "")
    async with telling(Metrics(), health, SystemClock(), host=HOST, port=0) as port:
        assert await asked(port, "/healthz") == (200, "ok")
        assert await asked(port, "/readyz") == (200, "ok")


async def test_trouble_is_named_by_part() -> None:
    health = Health()
    health.add("informers", lambda: "the cache is not complete yet")
    health.add("leader", lambda: "")
    async with telling(Metrics(), health, SystemClock(), host=HOST, port=0) as port:
        trouble = "informers: the cache is not complete yet"
        assert await asked(port, "/healthz") == (500, trouble)


async def test_metrics_are_read_at_each_scrape() -> None:
    metrics, ready = Metrics(), False
    metrics.add_readiness("virt-api", lambda: ready)
    async with telling(metrics, Health(), SystemClock(), host=HOST, port=0) as port:
        assert "kubevirt_virt_api_ready_status 0.0" in (await asked(port, "/metrics"))[1]
        ready = True
        assert "kubevirt_virt_api_ready_status 1.0" in (await asked(port, "/metrics"))[1]
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://{HOST}:{port}/metrics") as answer,
        ):
            assert answer.headers["Content-Type"] == CONTENT_TYPE


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/elsewhere", 404), ("POST", "/metrics", 405)]
)
async def test_nothing_else_is_there(method: str, path: str, status: int) -> None:
    async with telling(Metrics(), Health(), SystemClock(), host=HOST, port=0) as port:
        assert (await asked(port, path, method))[0] == status


async def test_a_program_may_have_pages_of_its_own() -> None:
    pages: dict[str, Page] = {}
    async with telling(Metrics(), Health(), SystemClock(), host=HOST, port=0, pages=pages) as port:
        assert (await asked(port, "/leader"))[0] == 404
        pages["/leader"] = lambda: {"leader": "node01"}
        assert await asked(port, "/leader") == (200, '{"leader": "node01"}')
