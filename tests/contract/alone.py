"""What only one of the two servers is asked, and why: at most one test in twenty.

What Kubernetes' own alone is asked, `not_yet.py` says. As a plugin of pytest (`-p tests.contract.alone`) this module prints
how many tests of this folder there are, and how many of them ours is not asked, by reason.
"""

import json
from collections import Counter
from collections.abc import Mapping

import pytest
from tests.contract import not_yet

_STORE = "Kubernetes' store is etcd, which has tests of its own for this"
_LIMITS = "the limits are ours: a test sets them low, as no flag of Kubernetes can"
_PROCESS = "it looks into the process, or at its own clock, memory and disk"
_FORM = "Kubernetes has it in a form of its own, or not at all"
_TABLES = "our tables were made from what Kubernetes' own says of itself"

WHY: Mapping[str, str] = {
    "component/apiserver/test_aggregation": _FORM,
    "component/apiserver/test_audit": _FORM,
    "component/apiserver/test_compaction": _PROCESS,
    "component/apiserver/test_server": _PROCESS,
    "component/apiserver/test_server_bounds": _LIMITS,
    "component/apiserver/test_server_crashes": _STORE,
    "component/apiserver/test_server_faults": _PROCESS,
    "component/apiserver/test_server_memory": _PROCESS,
    "component/apiserver/test_server_openapi": _PROCESS,
    "component/apiserver/test_server_program": _STORE,
    "component/apiserver/test_server_schemathesis": _PROCESS,
    "component/apiserver/test_server_surface": _PROCESS,
    "component/apiserver/test_store_crashes": _STORE,
    "component/apiserver/test_store_power": _STORE,
    "component/apiserver/test_webhooks": _LIMITS,
    "test_builtin_kinds": _TABLES,
    "unit/apiserver/auth/test_audit": _FORM,
    "unit/apiserver/auth/test_authority": _PROCESS,
    "unit/apiserver/auth/test_identity": _PROCESS,
    "unit/apiserver/storage/test_retention": _STORE,
    "unit/apiserver/storage/test_sqlite_limits": _STORE,
    "unit/apiserver/storage/test_sqlite_opening": _STORE,
    "unit/apiserver/storage/test_store_listing": _STORE,
    "unit/apiserver/storage/test_store_watching": _STORE,
    "unit/apiserver/storage/test_store_writing": _STORE,
    "unit/apiserver/test_bodies": _LIMITS,
}
"""Of the tests in the table of nouns that only one of the two is asked, by file."""

MARK = "asked of one server only: "
_ASKED_OF_BOTH = (None, not_yet.BOTH_AT_ONCE)


def pytest_collection_finish(session: pytest.Session) -> None:
    reasons = [not_yet.reason(item) for item in session.items]
    alone = Counter(reason for reason in reasons if reason not in _ASKED_OF_BOTH)
    print(MARK + json.dumps({"tests": len(reasons), "alone": alone}))  # noqa: T201  # for whoever started it
