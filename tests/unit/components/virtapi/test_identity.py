"""Who asks, as the headers of a front proxy say it."""

import asyncio
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from kubevirt.components.virtapi.identity import Asker, FrontProxy, asker
from kubevirt.virt.commands.refusal import Refusal

PROXY = FrontProxy(names=("front-proxy-client",))


class _Tls:
    def __init__(self, *names: str) -> None:
        self._names = names

    def getpeercert(self) -> dict[str, Any]:
        if not self._names:
            return {}
        return {"subject": tuple((("commonName", each),) for each in self._names)}


class _Transport(asyncio.Transport):
    def __init__(self, **known: Any) -> None:
        super().__init__()
        self._known = known

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._known.get(name, default)


PRIVATE = _Transport(sockname="/run/virt-api.sock")


def request(transport: asyncio.Transport, *headers: tuple[str, str]) -> web.BaseRequest:
    return make_mocked_request("GET", "/", headers=CIMultiDict(headers), transport=transport)


def test_all_that_is_said_of_somebody_is_heard() -> None:
    found = asker(
        request(
            PRIVATE,
            ("X-Remote-User", "jane"),
            ("X-Remote-Uid", "17"),
            ("X-Remote-Group", "testers"),
            ("X-Remote-Group", "system:authenticated"),
            ("X-Remote-Extra-Scopes", "a"),
            ("X-Remote-Extra-Scopes", "b"),
            ("X-Remote-Extra-Authentication.kubernetes.io%2fNode-Name", "node01"),
        ),
        PROXY,
    )
    assert found == Asker(
        user="jane",
        uid="17",
        groups=("testers", "system:authenticated"),
        extra={"scopes": ("a", "b"), "authentication.kubernetes.io/node-name": ("node01",)},
    )


@pytest.mark.parametrize(
    "transport",
    [PRIVATE, _Transport(ssl_object=_Tls("front-proxy-client"), sockname=("127.0.0.1", 8443))],
    ids=["private socket", "front proxy"],
)
def test_who_is_believed(transport: asyncio.Transport) -> None:
    assert asker(request(transport, ("X-Remote-User", "jane")), PROXY).user == "jane"


@pytest.mark.parametrize(
    "transport",
    [
        _Transport(sockname=("127.0.0.1", 8443)),
        _Transport(sockname=""),
        _Transport(ssl_object=_Tls(), sockname=("127.0.0.1", 8443)),
        _Transport(ssl_object=_Tls("jane"), sockname=("127.0.0.1", 8443)),
        _Transport(ssl_object=_Tls(), sockname="/run/virt-api.sock"),
    ],
    ids=["plain port", "nameless socket", "no certificate", "another name", "TLS on a socket"],
)
def test_who_is_not(transport: asyncio.Transport) -> None:
    with pytest.raises(Refusal, match="request is not authenticated"):
        asker(request(transport, ("X-Remote-User", "jane")), PROXY)


def test_nobody_is_somebody_without_a_name() -> None:
    for headers in ([], [("X-Remote-User", "")], [("X-Remote-Group", "system:masters")]):
        with pytest.raises(Refusal, match="request is not authenticated"):
            asker(request(PRIVATE, *headers), PROXY)


def test_headers_have_the_names_that_were_published() -> None:
    proxy = FrontProxy(user_headers=("X-User", "X-Remote-User"), group_headers=("X-Group",))
    found = asker(request(PRIVATE, ("X-Remote-User", "jane"), ("X-Remote-Group", "a")), proxy)
    assert (found.user, found.groups) == ("jane", ())
