"""The interval of epsilon beside its claim, as a strip of a few characters for cards, indexes and plots."""

from __future__ import annotations

import math
from dataclasses import dataclass

from verifiable_dp.evidence.words import digits
from verifiable_dp.record import words
from verifiable_dp.record.decision import decision
from verifiable_dp.record.model import Record

LOW, HIGH = 0.125, 8.0  # times the claim: the ends of a strip


@dataclass(frozen=True)
class Interval:
    """Where epsilon lies, in units of the claim.

    Attributes
    ----------
    least, most
        The bounds; `most` is None where no upper bound stands. Samples do not put `least` above it.
    claim
        The epsilon that is claimed, or that of the yardstick.
    yardstick
        Whether nothing was promised.
    colour
        As a page shows the verdict.
    """

    least: float
    most: float | None
    epsilon: float
    yardstick: bool
    colour: str

    @property
    def left(self) -> int:
        """Of the strip, in percent."""
        return _place(self.least / self.epsilon)

    @property
    def width(self) -> int:
        """Of the strip, in percent; to its end where no upper bound stands."""
        end = 100 if self.most is None else _place(self.most / self.epsilon)
        return max(end - self.left, 1)

    @property
    def claim(self) -> int:
        """Where the claim stands, in percent."""
        return _place(1.0)

    @property
    def ends(self) -> tuple[float, float]:
        """The epsilons at the ends of the strip."""
        return LOW * self.epsilon, HIGH * self.epsilon

    @property
    def brief(self) -> str:
        """What is drawn, beside a verdict that has the numbers."""
        end = "upper end open" if self.most is None else "if assumptions hold"
        return f"Bar: epsilon, {end}. Mark: {'yardstick' if self.yardstick else 'promise'}."

    @property
    def words(self) -> str:
        """The numbers."""
        most = "no upper bound" if self.most is None else f"at most {digits(self.most)} if assumptions hold"
        what = "yardstick" if self.yardstick else "promised"
        return f"epsilon at least {digits(self.least)}, {most}, {what} {digits(self.epsilon)}"


def of(record: Record) -> Interval | None:
    """The interval of a record; None where privacy was not audited."""
    if not record.checks:
        return None
    upper = record.epsilon_upper
    stands = upper is not None and record.verdict != "refuted" and math.isfinite(float(upper.epsilon))
    least, most = words.least(record), float(record.bound.epsilon) if stands else None
    return Interval(
        least if most is None else min(least, most),
        most,
        record.claimed.epsilon,
        words.is_baseline(record),
        decision(record).colour,
    )


def _place(ratio: float) -> int:
    """Of a multiple of the claim, in percent of the strip: even for each doubling."""
    if ratio <= LOW:
        return 0
    return min(100, round(100 * math.log(ratio / LOW) / math.log(HIGH / LOW)))
