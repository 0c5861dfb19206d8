"""Who the front proxy is, followed: known, changed, gone."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from kubevirt.api.core.namespace import ConfigMap
from kubevirt.api.meta import ObjectMeta
from kubevirt.components.virtapi.front_proxy import AUTHORITY, NAME, Published
from kubevirt.components.virtapi.identity import FrontProxy
from kubevirt.kube.cache.store import Change


@pytest.fixture
def found() -> Iterator[Published]:
    with closing(Published()) as made:
        yield made


def published(**data: str) -> Change[Any]:
    names = {key.replace("_", "-"): value for key, value in data.items()}
    return Change(None, ConfigMap(metadata=ObjectMeta(name=NAME), data={AUTHORITY: "PEM", **names}))


def test_what_is_published_is_known(found: Published) -> None:
    assert found() is None
    found.heed(
        published(
            requestheader_allowed_names='["a", "b"]',
            requestheader_username_headers='["X-User"]',
            requestheader_extra_headers_prefix='["X-More-"]',
        )
    )
    assert found() == FrontProxy(
        names=("a", "b"), user_headers=("X-User",), extra_prefixes=("X-More-",)
    )
    assert found.authority.read_text() == "PEM"


def test_a_new_authority_takes_the_place_of_the_old(found: Published) -> None:
    found.heed(published(**{"requestheader-client-ca-file": "A LONGER ONE"}))
    before = found.authority.stat()
    found.heed(published(**{"requestheader-client-ca-file": "OTHER"}))
    assert found.authority.read_text() == "OTHER"
    after = found.authority.stat()
    assert (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns)


@pytest.mark.parametrize(
    "change",
    [
        Change(ConfigMap(), None),
        published(requestheader_allowed_names="front-proxy-client"),
        published(**{"requestheader-client-ca-file": " "}),
    ],
    ids=["gone", "unreadable", "no authority"],
)
def test_whoever_is_not_known_is_not_believed(found: Published, change: Change[Any]) -> None:
    found.heed(published())
    found.heed(change)
    assert found() is None
