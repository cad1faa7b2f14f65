"""Data on which what is asked of raw numbers comes out otherwise: there plain code may do what no run showed.

A raw number that is compared, clipped or taken absolute splits the data into parts. Typical data and the ends
of their bounds may all lie in one of them, while NumPy does something of its own in another: it rounds, wraps
or takes another type. Data are led along a few lines, and those are kept on which an answer is first seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from verifiable_dp.core.validate import FloatArray

_RUNS, _KEPT = 200, 80  # in all, and those of them to come closer to where an answer changes
_STEPS, _CLOSER = 33, 14  # along a line, and halvings of a step
_MOST, _LINES = 10, 6  # data that are kept, and answers to which runs come closer
_CLEAR = 1e-9  # what is nearer to 0 may be rounded to either side
_SHIFT = 0.6180339887  # no step lies where sums of whole numbers do

Line = Callable[[float], FloatArray]
Asked = Callable[[FloatArray], Sequence[float] | None]  # gives all raw numbers that are asked, of one run


def lines(shape: tuple[int, ...], low: float, high: float) -> list[Line]:
    """Ways through the data: all entries rise, one after the other, or those of one column or of one half."""
    order = np.arange(math.prod(shape)).reshape(shape)
    columns = order % shape[-1] if len(shape) > 1 else np.zeros(shape, int)
    rows = order // shape[-1] if len(shape) > 1 else order

    def rising(places: FloatArray, moving: FloatArray) -> Line:
        """Entries rise to their end when it is their turn; `places` lie in [0, 1)."""
        count = max(1, int(moving.sum()))
        return lambda at: low + (high - low) * moving * np.clip(at * (count + 1) - places * count, 0.0, 1.0)

    turns, whole = rows / (int(rows.max()) + 1), np.ones(shape)
    return [
        lambda at: np.full(shape, low + (high - low) * at),
        *(rising(turns, 1.0 * (columns == column)) for column in range(min(int(columns.max()) + 1, 3))),
        rising(order / order.size, whole),
        rising(turns, 1.0 * (rows % 2 == 0)),
        rising(np.flip(order, (0, -1)[: order.ndim]) / order.size, whole),
    ]


def doubtful(asked: Asked, ways: Sequence[Line]) -> list[FloatArray]:
    """Data of runs on which an answer is first seen, along some lines or near where it changes.

    `asked` gives what is asked in a run; None ends the search.
    """
    found: dict[tuple[int, int], FloatArray] = {}
    nearest: dict[int, tuple[float, Line, float]] = {}
    left = _RUNS

    def tried(line: Line, at: float) -> Sequence[float] | None:
        nonlocal left
        left -= 1
        data = line(at)
        values = asked(data)
        for i, value in enumerate(values or ()):
            if i not in nearest or abs(value) < nearest[i][0]:
                nearest[i] = abs(value), line, at
            if abs(value) > _CLEAR:
                found.setdefault((i, int(np.sign(value))), data)
        return values

    if not (tried(ways[0], _SHIFT) and left):
        return []

    def open_() -> list[int]:
        return [i for i in nearest if (i, 1) not in found or (i, -1) not in found]

    def kept() -> list[FloatArray]:
        return list({data.tobytes(): data for data in found.values()}.values())[:_MOST]

    for line in ways:
        for step in range(_STEPS):
            if left <= _KEPT or tried(line, (step + _SHIFT) / _STEPS) is None:
                break
            if not open_():
                return kept()
    for i in open_()[:_LINES]:
        _, line, at = nearest[i]
        width = 1.0 / _STEPS
        for _ in range(_CLOSER):
            width /= 2
            for other in (at - width, at + width):
                if left > 0 and 0 <= other <= 1:
                    tried(line, other)
            at = nearest[i][2] if nearest[i][1] is line else at
            if (i, 1) in found and (i, -1) in found:
                break
    return kept()
