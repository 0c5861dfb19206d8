"""What is wanted of a log, as a request says it."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from kubevirt.embedded.node.endpoint.refusals import NotServed
from kubevirt.embedded.runtime.log_lines import Wanted

_TRUE: Final = ("1", "t", "T", "true", "TRUE", "True")
_STREAMS: Final = {"": "", "All": "", "Stdout": "stdout", "Stderr": "stderr"}
_DIGITS: Final = 15
_LONGEST_S: Final = 100 * 366 * 86400


def wanted(query: Mapping[str, str], now: datetime) -> Wanted:
    stream = query.get("stream", "")
    if stream not in _STREAMS:
        raise NotServed(400, f"there is no stream {stream!r}; ask for Stdout, Stderr or All")
    return Wanted(
        tail=_number(query, "tailLines", least=0),
        since=_since(query, now),
        limit=_number(query, "limitBytes", least=1),
        has_times=is_set(query, "timestamps"),
        is_followed=is_set(query, "follow"),
        stream=_STREAMS[stream],
    )


def is_set(query: Mapping[str, str], name: str) -> bool:
    return query.get(name) in _TRUE


def _since(query: Mapping[str, str], now: datetime) -> datetime | None:
    if seconds := _number(query, "sinceSeconds", least=1):
        return now - timedelta(seconds=min(seconds, _LONGEST_S))
    if not (text := query.get("sinceTime")):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise NotServed(400, f"sinceTime is no time: {text!r}") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _number(query: Mapping[str, str], name: str, *, least: int) -> int | None:
    text = query.get(name)
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > _DIGITS or int(text) < least:
        raise NotServed(400, f"{name} has to be a number from {least} on, not {text!r}")
    return int(text)
