"""What goes on to a callee, and what comes back."""

import pytest

from kubevirt.apiserver.aggregation import headers
from kubevirt.apiserver.registry.identity import Identity

BOB = Identity(
    user="bob", uid="7", groups=("ops", "dev"), extra={"example.org/why": ("fun", "profit")}
)


def onward(*said: tuple[str, str]) -> list[tuple[str, str]]:
    return list(headers.onward(said, BOB, "10.0.0.7"))


def test_who_asks_is_said_by_us() -> None:
    assert onward() == [
        ("X-Forwarded-For", "10.0.0.7"),
        ("X-Remote-User", "bob"),
        ("X-Remote-Uid", "7"),
        ("X-Remote-Group", "ops"),
        ("X-Remote-Group", "dev"),
        ("X-Remote-Extra-example.org%2Fwhy", "fun"),
        ("X-Remote-Extra-example.org%2Fwhy", "profit"),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "x-remote-user",
        "X-REMOTE-GROUP",
        "X-Remote-Uid",
        "X-Remote-Extra-Any",
        "Impersonate-User",
        "Impersonate-Extra-Why",
        "Audit-Id",
        "Host",
        "Keep-Alive",
        "Proxy-Authorization",
        "TE",  # codespell:ignore te
        "Transfer-Encoding",
        "Upgrade",
        "Sec-WebSocket-Key",
    ],
)
def test_what_is_ours_or_of_the_connection_stays_here(name: str) -> None:
    assert onward((name, "root")) == onward()


def test_what_a_connection_names_belongs_to_it() -> None:
    said = [("Connection", "close, X-Secret"), ("x-secret", "1"), ("X-Other", "2")]
    assert ("X-Other", "2") in onward(*said)
    assert not [pair for pair in onward(*said) if pair[0].lower() in ("connection", "x-secret")]
    assert next(headers.back(said)) == ("X-Other", "2")


def test_whoever_passed_it_on_before_is_still_named() -> None:
    assert ("X-Forwarded-For", "1.2.3.4, 10.0.0.7") in onward(("X-Forwarded-For", "1.2.3.4"))


def test_an_answer_is_not_kept_unless_the_callee_says_so() -> None:
    assert list(headers.back([])) == [("Cache-Control", "no-cache, private")]
    assert list(headers.back([("cache-control", "max-age=5")])) == [("cache-control", "max-age=5")]


@pytest.mark.parametrize(
    ("said", "protocol"),
    [
        ([("Connection", "Upgrade"), ("Upgrade", "WebSocket")], "websocket"),
        ([("connection", "keep-alive, upgrade"), ("upgrade", "SPDY/3.1")], "spdy/3.1"),
        ([("Connection", "Upgrade")], "?"),
        ([("Upgrade", "websocket")], ""),
        ([], ""),
    ],
)
def test_an_upgrade_is_asked_for_by_two_headers(said: list[tuple[str, str]], protocol: str) -> None:
    assert headers.upgrade(said) == protocol


def test_a_token_is_no_protocol() -> None:
    said = [
        ("Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io.QUJD, plain"),
        ("Sec-WebSocket-Protocol", "v5.channel.k8s.io"),
    ]
    assert headers.protocols(said) == ["plain", "v5.channel.k8s.io"]
