"""Strategies for hypothesis that are made of coin tosses alone, so that a search follows its seed.

hypothesis draws an integer or a float now and then among constants, which it reads out of whatever modules
are loaded; a coin it only tosses. Corner values, where code is wrong most often, are drawn here by design.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Value = TypeVar("Value")
_MORE = 3  # tosses beyond the least number: how evenly values come that are no power of two


def below(count: int) -> SearchStrategy[int]:
    """Each of the whole numbers from 0 to `count` - 1 about as often; shrinks to 0."""
    from hypothesis import strategies as st

    tosses = (count - 1).bit_length() + _MORE * (count > 1)

    def number(sides: Sequence[bool]) -> int:
        return sum(side << place for place, side in enumerate(reversed(sides))) % count

    return st.tuples(*[st.booleans()] * tosses).map(number)


def one_of(values: Sequence[Value]) -> SearchStrategy[Value]:
    """Each of `values` about as often; shrinks to the first."""
    return below(len(values)).map(values.__getitem__)


def corners(count: int) -> list[int]:
    """Of `count` places the first two and the last two."""
    return sorted({at for at in (0, 1, count - 2, count - 1) if 0 <= at < count})


def place(count: int) -> SearchStrategy[int]:
    """A place among `count`, every second time one of its `corners`; shrinks to the first."""
    ends = corners(count)
    return below(2 * count).map(lambda drawn: drawn if drawn < count else ends[drawn % len(ends)])
