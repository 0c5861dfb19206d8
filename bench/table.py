"""A result for people: one table in plain text."""

from collections.abc import Iterable, Sequence

from bench.contest import Contender
from bench.result import Result, Target, targets
from bench.server import Server

Row = Sequence[str]


def render(result: Result, server: Server) -> str:
    size = f"{server.object_bytes / 1000:.1f} kB"
    return "\n".join(
        [
            *block(
                (
                    f"{server.objects} VMIs of {size}",
                    *("list s", "cpu s", "B/VMI", "peak MB", "events/s", "cpu us/event"),
                ),
                (_contender(result, who) for who in result.contenders),
            ),
            "",
            *block(
                ("work queue, keys per second", "ours", "client-go"),
                (_queue(result, case) for case in result.queues),
            ),
            "",
            *block(
                ("kubevirt-py, declared fields", "found", "at most", "server alone", "target"),
                (_target(each) for each in targets(result)),
            ),
        ]
    )


def _contender(result: Result, who: Contender) -> Row:
    memory = ("", "") if who.is_drain else _memory(result, who)
    return (
        who.name,
        f"{result.list_seconds(who):.2f}",
        f"{result.list_cpu_seconds(who):.2f}",
        *memory,
        f"{result.events_per_second(who):.0f}",
        f"{result.cpu_seconds_per_event(who) * 1e6:.0f}",
    )


def _memory(result: Result, who: Contender) -> Row:
    return f"{result.bytes_per_object(who):.0f}", f"{result.peak_bytes(who) / 1e6:.0f}"


def _queue(result: Result, case: str) -> Row:
    return case, *(f"{result.keys_per_second(case, who):,.0f}" for who in ("ours", "go"))


def _target(target: Target) -> Row:
    floor = "" if target.floor is None else f"{target.floor:.2f}x"
    return target.what, f"{target.found:.2f}x", f"{target.most:.1f}x", floor, target.verdict


def block(head: Row, rows: Iterable[Row]) -> list[str]:
    """Columns that line up: words to the left, numbers to the right."""
    body = list(rows)
    cells = [head, *body]
    columns = range(len(head))
    widths = [max(len(row[column]) for row in cells) for column in columns]
    numeric = [all(row[column][:1].isdigit() for row in body if row[column]) for column in columns]
    lines = [
        "  ".join(
            row[column].rjust(widths[column])
            if numeric[column]
            else row[column].ljust(widths[column])
            for column in columns
        ).rstrip()
        for row in cells
    ]
    return [lines[0], "-" * max(map(len, lines)), *lines[1:]]
