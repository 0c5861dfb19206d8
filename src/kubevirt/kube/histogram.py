"""A histogram that is cheap to write: kept where something is measured, read when it is scraped.

prometheus_client's own takes a lock and looks up labels on each observation; a queue that hands out
a key in a microsecond cannot pay that. `metrics.py` turns these into the text that Prometheus reads.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate


class Histogram:
    __slots__ = ("_counts", "bounds", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        """Upper edges in rising order; one more bucket takes what is above the last."""
        self.total = 0.0
        """Sum of all observed values."""
        self._counts = [0] * (len(self.bounds) + 1)

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        return sum(self._counts)

    def cumulative(self) -> Iterator[tuple[float, int]]:
        """Each upper edge, ending with infinity, and how many values were at most that."""
        return zip((*self.bounds, float("inf")), accumulate(self._counts), strict=True)


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Edges that grow by `factor`, rounded step by step as Go does: queries name them exactly."""
    return tuple(accumulate(range(count - 1), lambda edge, _: edge * factor, initial=start))
