"""Where two JSON values differ, and by how much: floats are compared on the scales of their check."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from verifiable_dp.core.validate import JsonValue
from verifiable_dp.evidence import rounding
from verifiable_dp.evidence.check import Check, scales_of

CHECK_KEYS = {"name", "kind", "statistics", "result"}


GONE = ...  # what stands at a place that only the other value has


class Apart(NamedTuple):
    """A place at which two JSON values are not the same text; `off`: how far floats are, on their scale."""

    place: str
    old: JsonValue
    new: JsonValue
    off: float = math.inf

    @property
    def words(self) -> str:
        """In a sentence."""
        if self.old is GONE or self.new is GONE:
            return f"{self.place} is {'missing' if self.old is GONE else 'unexpected'}"
        said = f"{self.place} is {shortened(self.old)}, and comes out as {shortened(self.new)}"
        allowed = f", off by {self.off:.1e} of its scale, where {rounding.TOLERANCE:g} is allowed"
        both = isinstance(self.old, float) and isinstance(self.new, float)
        return f"{said}{allowed if both else ''}"


def apart(old: JsonValue, new: JsonValue, place: str = "", scale: JsonValue = None) -> Iterator[Apart]:
    """Every place at which two JSON values differ; of lists of two lengths that, and what both have.

    `scale` is that of the values if they are part of a check: a number, or nested as they are; None if it is
    not known.
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        # Scales are not taken from what was recorded, where an edit could widen them.
        scale = scales_of(Check.read(new)) if scale is None and new.keys() >= CHECK_KEYS else scale
        for key in sorted({*old, *new}):
            here = f"{place}.{key}" if place else key
            yield from apart(old.get(key, GONE), new.get(key, GONE), here, _below(scale, key))
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield Apart(place, old, new)
        for i, (left, right) in enumerate(zip(old, new, strict=False)):
            yield from apart(left, right, f"{place}.{i}", _below(scale, i))
    elif isinstance(old, float) and isinstance(new, float) and repr(old) != repr(new):
        size = float(scale) if isinstance(scale, int | float) else 0.0
        yield Apart(place, old, new, rounding.difference(old, new, size))
    elif repr(old) != repr(new):  # 1 and 1.0 are not the same text
        yield Apart(place, old, new)


def first_difference(recorded: JsonValue, again: JsonValue, place: str = "") -> str:
    """Where two JSON values differ first, in words; empty if they are equal.

    Whole numbers, words and structure must be the same. Floats are compared by the rule of
    `evidence.rounding`, at the scales that the judge of each check in the values states.
    """
    found = (one.words for one in apart(recorded, again, place) if one.off > rounding.TOLERANCE)
    return next(found, "")


def _below(scale: JsonValue, key: JsonValue) -> JsonValue:
    """Scales of what is at `key` within values with these scales; one number holds for all below it."""
    if isinstance(scale, Mapping):
        return scale.get(key)
    if isinstance(scale, list) and isinstance(key, int):
        return scale[key] if key < len(scale) else None
    return scale


def shortened(value: JsonValue) -> str:
    """A JSON value in at most 60 characters."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
