"""How a server says how it is."""

import pytest

from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError

ENDPOINTS = ("healthz", "livez", "readyz")


async def told(client: Client, path: str, **params: str) -> str:
    return (await client.raw("GET", path, params=params, accept="*/*")).decode()


@pytest.mark.parametrize("name", ENDPOINTS)
async def test_it_is_well_and_says_of_what(client: Client, name: str) -> None:
    assert await told(client, f"/{name}") == "ok"
    lines = (await told(client, f"/{name}", verbose="1")).splitlines()
    assert lines[0] == "[+]ping ok"
    assert lines[-1] == f"{name} check passed"
    assert all(line.startswith("[+]") for line in lines[:-1])
    for line in lines[:-1]:
        check = line.removeprefix("[+]").removesuffix(" ok")
        assert await told(client, f"/{name}/{check}") == "ok"


@pytest.mark.parametrize("name", ENDPOINTS)
async def test_what_is_not_looked_at_is_excluded(client: Client, name: str) -> None:
    assert await told(client, f"/{name}", exclude="ping") == "ok"
    lines = (await told(client, f"/{name}", verbose="1", exclude="ping")).splitlines()
    assert lines[0] == "[+]ping excluded: ok"
    lines = (await told(client, f"/{name}", verbose="1", exclude="a")).splitlines()
    assert lines[-2:] == [
        'warn: some health checks cannot be excluded: no matches for "a"',
        f"{name} check passed",
    ]


async def test_the_store_is_looked_at(client: Client) -> None:
    for name in ("healthz", "readyz"):
        assert "[+]etcd ok" in await told(client, f"/{name}", verbose="1")


@pytest.mark.parametrize("name", ENDPOINTS)
@pytest.mark.parametrize("rest", ["foo", "/foo", "/ping/foo", "/ping/", "/pin", "/"])
async def test_what_nobody_looks_at_is_not_found(client: Client, name: str, rest: str) -> None:
    with pytest.raises(ApiError) as caught:
        await client.raw("GET", f"/{name}{rest}", accept="*/*")
    assert caught.value.code == 404
