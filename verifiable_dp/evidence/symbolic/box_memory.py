"""What shares memory with an array, and what NumPy gives back of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from verifiable_dp.core.validate import Foreign


class BoxMemory:
    """What arrays without tracked entries share: NumPy's own, until something tracked is written there.

    Parameters
    ----------
    plain
        All of it.

    Attributes
    ----------
    objects
        The same as objects, in the same order; None before it is needed.
    is_seen
        Whether a plain array shares it, in which nobody would see what is written here.
    """

    def __init__(self, plain: Foreign) -> None:
        self.plain, self.is_seen = plain, False
        self.objects: Foreign = None

    def as_objects(self, part: Foreign) -> Foreign:
        """A part of it as objects."""
        if self.objects is None:
            self.objects = np.empty_like(self.plain, object)
            self.objects[...] = self.plain
        return counterpart(part, self.plain, self.objects)


def counterpart(part: Foreign, whole: Foreign, other: Foreign) -> Foreign:
    """What `part` is of `whole`, of another array with the same form, whose entries lie in the same order."""
    if not part.size:
        return np.empty(part.shape, other.dtype)
    flat = other.ravel(order="K")  # no copy: neither has gaps
    first = (_address(part) - _address(whole)) // whole.itemsize
    strides = tuple(step // whole.itemsize * other.itemsize for step in part.strides)
    return np.lib.stride_tricks.as_strided(flat[first:], part.shape, strides)


def steps(array: Foreign) -> list[int]:
    """From one entry to the next, along axes that have more than one."""
    return [step for step, size in zip(array.strides, array.shape, strict=True) if size > 1]


def _address(array: Foreign) -> int:
    return int(array.__array_interface__["data"][0])


def given_back(
    found: Foreign, given: Sequence[tuple[Foreign, Foreign]], made: Callable[[Foreign], Foreign]
) -> Foreign:
    """What NumPy made of plain arrays in place of boxes: what shares memory with one is a part of that box.

    NumPy alone says what shares memory; anything else is what `made` says.
    """

    def part(one: Foreign) -> Foreign:
        if type(one) is np.ndarray:
            for box, array in given:
                if np.may_share_memory(one, array):
                    return box.shared(one, array)
        return made(one)

    return each(part, found)


def each(function: Callable[[Foreign], Foreign], found: Foreign) -> Foreign:
    """A function of what NumPy returned, or of each of several parts, which may have names."""
    if not isinstance(found, tuple | list):
        return function(found)
    return getattr(type(found), "_make", type(found))(map(function, found))
