"""A result for people: one table in plain text."""

from collections.abc import Iterable, Sequence

from bench.contest import Contender
from bench.result import Result, targets
from bench.server import Server

Row = Sequence[str]


def render(result: Result, server: Server) -> str:
    size = f"{server.object_bytes / 1000:.1f} kB"
    return "\n".join(
        [
            *_block(
                (
                    f"{server.objects} VMIs of {size}",
                    *("list s", "cpu s", "B/VMI", "peak MB", "events/s", "cpu us/event"),
                ),
                (_contender(result, who) for who in result.contenders),
            ),
            "",
            *_block(
                ("work queue, keys per second", "ours", "client-go"),
                (_queue(result, case) for case in result.queues),
            ),
            "",
            *_block(
                ("target: kubevirt-py, declared fields", "at most", "found", ""),
                (
                    (
                        each.what,
                        f"{each.most:.1f}x",
                        f"{each.found:.2f}x",
                        "reached" if each.is_reached else "MISSED",
                    )
                    for each in targets(result)
                ),
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


def _block(head: Row, rows: Iterable[Row]) -> list[str]:
    """Columns that line up: words to the left, numbers to the right."""
    cells = [head, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    return [lines[0], "-" * max(map(len, lines)), *lines[1:]]
