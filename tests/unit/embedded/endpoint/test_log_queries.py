"""What is wanted of a log, as a request says it."""

from datetime import UTC, datetime, timedelta

import pytest

from kubevirt.embedded.node.endpoint.log_queries import wanted
from kubevirt.embedded.node.endpoint.refusals import NotServed
from kubevirt.embedded.runtime.log_lines import Wanted

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, Wanted()),
        ({"follow": "true", "timestamps": "1"}, Wanted(is_followed=True, has_times=True)),
        ({"follow": "false", "previous": "true"}, Wanted()),
        ({"tailLines": "0", "limitBytes": "1"}, Wanted(tail=0, limit=1)),
        ({"sinceSeconds": "60"}, Wanted(since=NOW - timedelta(minutes=1))),
        ({"sinceTime": "2026-11-15T11:00:00Z"}, Wanted(since=NOW - timedelta(hours=1))),
        (
            {"sinceTime": "2026-11-15T12:00:00.5+01:00"},
            Wanted(since=NOW - timedelta(seconds=3599.5)),
        ),
        ({"stream": "Stderr"}, Wanted(stream="stderr")),
        ({"stream": "All"}, Wanted()),
    ],
)
def test_a_query_says_what_is_wanted(query: dict[str, str], found: Wanted) -> None:
    assert wanted(query, NOW) == found


def test_a_very_long_time_is_the_beginning() -> None:
    since = wanted({"sinceSeconds": "999999999999999"}, NOW).since
    assert since is not None
    assert since.year < 2000


@pytest.mark.parametrize(
    "query",
    [
        {"tailLines": "-1"},
        {"tailLines": "many"},
        {"tailLines": "٣"},
        {"tailLines": "9" * 5000},
        {"limitBytes": "0"},
        {"sinceSeconds": "0"},
        {"sinceTime": "yesterday"},
        {"stream": "stdin"},
    ],
)
def test_a_query_that_makes_no_sense_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(NotServed) as refused:
        wanted(query, NOW)

    assert refused.value.code == 400
