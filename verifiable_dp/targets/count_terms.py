"""What the checks of an audit are held to where its runs are counted: what was asked."""

from __future__ import annotations

from dataclasses import dataclass

from verifiable_dp.core.validate import Json

APART = 0x5EED  # how far the seeds of the runs of two looks are apart
INTERACTIVE = 3  # number of the look at adversaries over contexts; the others come before it
_LOOKS = 4


@dataclass(frozen=True)
class CountTerms:
    """What was asked.

    Attributes
    ----------
    seed, alpha, confidence, numerics
        As in `auditing.request.Settings`.
    curve
        Whether a curve is measured, too.
    joint
        Whether the action of the user whose data change is not seen.
    sure
        Least confidence of what only leads.
    """

    seed: int
    alpha: float
    confidence: float
    numerics: bool
    curve: bool
    joint: bool
    sure: float

    @property
    def seeds(self) -> list[int]:
        """Of the runs of the target itself; variants that lose more have others."""
        return [self.seed + APART * look for look in range(_LOOKS)]

    def most_tests(self, kind: str, checks: int) -> int:
        """The most tests among which a target of a kind may share its level, with so many checks.

        Every look at a bandit is one, and so is a curve; two looks may have left no check.
        """
        looks = 1 if kind.startswith("release") else _LOOKS
        return (looks + self.curve) * (checks + 2)

    def unlike(self, kind: str, stated: Json, claim: Json, most: int) -> str:
        """What a check states that is not as it was asked, its level being shared by at most `most` tests."""
        parts = 1 + self.numerics
        confidence = 1 - (1 - self.confidence) / parts if self.numerics else self.confidence
        wanted = {
            "alpha": self.alpha / parts,
            "confidence": max(confidence, self.sure) if kind == "between" else confidence,
            "epsilon": claim["epsilon"],
            "delta": claim["delta"],
        }
        found = [name for name, value in wanted.items() if stated[name] != value]
        return ", ".join([*found, *(["tests"] if not 1 <= stated["tests"] <= most else [])])
