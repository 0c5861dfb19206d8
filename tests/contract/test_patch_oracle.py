"""Patches, held against a real server: the same patch on the same object gives the same.

Strategic merge patches, which only built-in kinds take, are in test_strategic_oracle.py.
"""

from itertools import count
from typing import Any

import pytest
from tests.contract.twins import Object, Twins, define_racks

from kubevirt.kube.client import Client

_numbers = count()


@pytest.fixture
async def twins(client: Client) -> Twins:
    await define_racks(client)
    made = Twins(client, "default", f"patched-{next(_numbers)}")
    free = {"x": None, "y": {"z": 1}, "list": [{"a": 1}]}
    await made.create(
        "ann", {"size": 1, "tags": ["a", "b"], "free": free, "units": [{"name": "u"}]}
    )
    return made


@pytest.mark.parametrize(
    "patch",
    [
        {},
        {"spec": {"size": None, "free": {"x": 1, "y": {"z": None}}, "unknown": 1}},
        {"spec": None},
        {"spec": {"tags": None, "door": {"colour": {"b": None}}}},
        {"spec": {"tags": None, "door": {"colour": None, "handle": {"side": "left"}}}},
        {"spec": {"free": {"new": {"n": None, "m": [{"k": None}, None, [None]]}}}},
        {"spec": {"free": {"y": [None, {"a": None}], "x": {"a": None}, "list": {"b": None}}}},
        {"spec": {"free": {"list": [{"a": None, "b": {"c": None}}]}}},
        {"metadata": {"labels": {"a": "b"}, "annotations": None}},
        {"status": {"phase": "ignored"}},
        {"spec": {"size": "big"}},
        [1],
        "text",
    ],
    ids=str,
)
async def test_merge_patches(twins: Twins, patch: Any) -> None:
    await twins.merge_patch("bob", patch)


def _op(op: str, path: str | None = None, **more: Any) -> Object:
    return {"op": op, **({} if path is None else {"path": path}), **more}


@pytest.mark.parametrize(
    "operations",
    [
        [_op("test", "/spec/size", value=2)],
        [_op("test", "/spec/size", value=1), _op("replace", "/spec/size", value=2)],
        [_op("test", "/spec/size", value="1")],
        [_op("test", "/spec/none", value=2)],
        [_op("test", "/spec/none", value=None)],
        [_op("test", "/spec/none/x", value=2)],
        [_op("test", "/spec/tags/7", value="a")],
        [_op("test", "/spec/tags/x", value="a")],
        [_op("test", "/spec/tags", value=["a", "b"])],
        [_op("test", "/spec/free/y", value={"z": 1})],
        [_op("test", "/spec/free/x", value=None)],
        [_op("remove", "/spec/none")],
        [_op("remove", "/spec/none/a")],
        [_op("remove", "/spec/tags/0")],
        [_op("remove", "/spec/tags/5")],
        [_op("remove", "/spec/tags/-1")],
        [_op("remove", "/spec/tags/-3")],
        [_op("add", "/spec/a/b", value=1)],
        [_op("add", "/spec/tags/2", value="c")],
        [_op("add", "/spec/tags/3", value="c")],
        [_op("add", "/spec/tags/01", value="c")],
        [_op("add", "/spec/tags/x", value="c")],
        [_op("add", "/spec/tags/-", value="c")],
        [_op("add", "/spec/tags/-1", value="c")],
        [_op("add", "/spec/tags/-2", value="c")],
        [_op("add", "/spec/title")],
        [_op("add", "/metadata/labels", value={}), _op("add", "/metadata/labels/a~1b", value="c")],
        [
            _op("add", "/spec/free/a~0b", value={"c": []}),
            _op("add", "/spec/free/a~0b/c/-", value=1),
        ],
        [_op("replace", "/spec/title", value="c")],
        [_op("replace", "/spec/tags/0", value="c")],
        [_op("replace", "/spec/tags/9", value="c")],
        [_op("replace", "/spec/none/x", value="c")],
        [_op("replace", "", value=5)],
        [_op("move", "/spec/title", **{"from": "/spec/none"})],
        [_op("move", "/spec/title", **{"from": "/spec/tags/0"})],
        [_op("move", "/spec/free/q", **{"from": "/spec/free/y"})],
        [_op("copy", "/spec/title", **{"from": "/spec/none/q"})],
        [_op("copy", "/spec/title", **{"from": "/spec/none"})],
        [_op("copy", "/spec/a/b", **{"from": "/spec/size"})],
        [
            _op("copy", "/spec/free/q", **{"from": "/spec/free/y"}),
            _op("replace", "/spec/free/q/z", value=2),
        ],
        [_op("copy", "/spec/title")],
        [_op("frob", "/spec/none")],
        [_op("add", value=1)],
        [{"path": "/spec/size", "value": 1}],
        [_op("test", "", value={})],
        [_op("remove", "")],
        [_op("add", "spec", value=1)],
        [_op("add", "/spec/title", value="t", unknown=1)],
        [_op("add", "/spec/size", value="x")],
        [1],
        [{"op": 5, "path": "/a"}],
        [{"op": "add", "path": 5}],
    ],
    ids=str,
)
async def test_json_patches(twins: Twins, operations: list[Any]) -> None:
    await twins.json_patch("bob", *operations)
