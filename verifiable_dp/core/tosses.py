"""Strategies for hypothesis that are made of coin tosses alone, so that a search follows its seed.

hypothesis draws an integer or a float now and then among constants, which it reads out of whatever modules
are loaded; a coin it only tosses.
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
