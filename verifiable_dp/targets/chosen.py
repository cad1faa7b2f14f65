"""An event that was chosen where no code of a target runs, and what was counted of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from verifiable_dp.core.validate import Given, InputError, IntArray, Json, JsonDict
from verifiable_dp.evidence.blackbox.curves import CurveSetting
from verifiable_dp.evidence.blackbox.events import Event, EventSetting
from verifiable_dp.targets.candidates import Candidates


@dataclass(frozen=True)
class CountedRuns:
    """Hits and runs of either world, ((k, n), (k, n)), with those of the count before if it `goes_on`."""

    sampler: JsonDict
    path: list[int]
    ends: list[int]
    counts: IntArray
    goes_on: bool


@dataclass
class ChosenEvent:
    """An event that was chosen here.

    Attributes
    ----------
    event, pair, sampler, rule
        Of what, and by which rule.
    number, among
        Of the pair, among those of its look; None unless selection runs chose it.
    looks, samples
        All its counts, and runs to be asked again.
    """

    event: Event
    pair: Json
    sampler: JsonDict
    rule: EventSetting | CurveSetting
    number: int = 0
    among: Candidates | None = None
    looks: list[CountedRuns] = field(default_factory=list)
    samples: list[Given] = field(default_factory=list)

    def counted(self, sampler: JsonDict, path: list[int], starts: list[int], counts: IntArray) -> None:
        """Note a count: it goes on with the last one, or begins anew, so that no run counts twice.

        Raises
        ------
        InputError
            If it does neither.
        """
        ends = [start + int(runs) for start, runs in zip(starts, counts[:, 1], strict=True)]
        last, goes_on = self.looks[-1] if self.looks else None, False
        if last is not None and (last.sampler, last.path) == (sampler, path):
            goes_on = last.ends == starts
            if any(starts) and not goes_on:
                raise InputError("target: its process had runs counted that do not follow the last ones")
        whole = counts + last.counts if last is not None and goes_on else counts
        self.looks.append(CountedRuns(sampler, path, ends, whole, goes_on))

    @property
    def varied(self) -> bool:
        """Whether some runs that were counted hit it and others, on the same input, did not."""
        return any(0 < hits < runs for look in self.looks for hits, runs in look.counts.tolist())

    def fits(self, pair: Json, sampler: JsonDict) -> bool:
        """Whether it was chosen on this pair, by a sampler that differs in seed and size of calls alone."""
        free = {"seed": 0, "rows": None}
        return (pair, {**sampler, **free}) == (self.pair, {**self.sampler, **free})

    @property
    def direction(self) -> str:
        """As a check states it."""
        one, zero = (1, 0) if self.event.flipped else (0, 1)
        return f"world {one} over world {zero}"

    def row(self, look: CountedRuns) -> list[int]:
        """A count as [k1, n1, k0, n0]."""
        found: list[int] = look.counts[:: -1 if self.event.flipped else 1].ravel().tolist()
        return found

    def numbers(self, look: CountedRuns) -> JsonDict:
        """A count as a check states it."""
        return dict(zip(("k1", "n1", "k0", "n0"), self.row(look), strict=True))

    @property
    def curved(self) -> bool:
        """Whether it was chosen for a curve."""
        return isinstance(self.rule, CurveSetting)

    def states(self, look: CountedRuns) -> tuple[object, ...]:
        """What a check of a count would state."""
        return (self.pair["words"], self.event.describe(), self.direction, *self.row(look))

    def named(self, stated: Json, pair: str) -> bool:
        """Whether a check speaks of it."""
        return (self.pair["words"], self.event.describe(), self.direction) == (
            pair,
            stated["event"],
            stated["direction"],
        )
