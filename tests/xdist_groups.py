"""Tests of one `xdist_group` go to one worker (`--dist=loadgroup`), also with pytest 9.2.

xdist 3.8 tells its controller by the end of a test's id, `…::test_it@group`, and writes that into a field
in which pytest looks no more; groups are ignored without a word (pytest-xdist issue 1386). Where xdist's own
way works, this does nothing.
"""

from typing import Any

import pytest


@pytest.hookimpl(trylast=True)  # when all marks are there, and xdist has tried
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not getattr(config.option, "loadgroup", False):  # xdist sets it, in a worker
        return
    for item in items:
        groups = sorted({str(mark.args[0]) for mark in item.iter_markers("xdist_group")})
        ending = f"@{'_'.join(groups)}"
        if groups and not item.nodeid.endswith(ending):
            with_id: Any = item
            with_id._id = type(with_id._id).parse(item.nodeid + ending)
