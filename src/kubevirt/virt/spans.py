"""A short while after a moment that somebody else has noted, whose clock may be wrong."""

from datetime import datetime, timedelta


def end_of(since: datetime | None, span: timedelta, now: datetime) -> datetime | None:
    """When it ends; None if that was, or if there was no such moment.

    A moment that lies further ahead than the span is long is a clock's mistake, and not waited for.
    """
    if since is None or not since - span <= now < since + span:
        return None
    return since + span
