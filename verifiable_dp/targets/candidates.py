"""Which pairs of inputs a look compared: those that follow from what was asked are among them, the best won.

The child says on which pairs it makes runs. The parent makes those that a request stands for again, and has
seen the runs by which pairs were ranked and events chosen: so it knows which pair had to be tested.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Protocol

from verifiable_dp.core.neighbours import ContextGame, Pair
from verifiable_dp.core.validate import FloatArray, Given, InputError, IntArray, Json, JsonDict
from verifiable_dp.evidence.blackbox.test import RANKED
from verifiable_dp.targets.load import DataPair
from verifiable_dp.targets.sent import digest_of

TOO_FEW = "the pairs that were tested were chosen among all of them by too few runs"
_MOST_FOUND = 64  # pairs that a first look may have besides those that were asked for
_MOST_PROBE = 20_000  # runs of a pair that are always enough to rank it
_LEAST_SHARE = 64  # of the test's runs, a pair is ranked by at least one in so many, and two for each pair


class Designed(Protocol):
    """The neighbours that follow from what was asked."""

    @property
    def open(self) -> bool:
        """Whether code may state itself which data are neighbours: no pairs and no adjacency were given."""

    def of_bandit(self, play: Callable[[FloatArray, int], IntArray], runs: int) -> list[Pair]:
        """Those of a bandit whose audit has so many runs; `play` gives some runs on a table, (runs, T)."""

    def of_mechanism(self) -> list[list[DataPair]]:
        """Those of a mechanism, by what data it may take: one of these lists."""

    def of_size(self, data: Given) -> bool:
        """Whether two data sets are what is tried besides, for data of another size."""


def name_of(pair: Json) -> str:
    """What tells a pair from others: the digest of its data, else its words."""
    return str(pair["digest"] or pair["words"])


def digest_of_pair(pair: Given) -> str | None:
    """Of the data of a pair; None where it has none, or they have no form."""
    return None if isinstance(pair, ContextGame) else digest_of(pair.worlds())


@dataclass(eq=False)
class Candidates:
    """The pairs among which a look chose, by their number.

    Attributes
    ----------
    told
        The sampler.
    pairs
        As the child told of them.
    probes
        Runs and promise in each round of the ranking.
    promises
        Of the events that were chosen on selection runs.
    closed
        Whether one of them has been counted.
    """

    told: JsonDict
    pairs: dict[int, Json] = field(default_factory=dict)
    probes: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    promises: dict[int, float] = field(default_factory=dict)
    closed: bool = False

    @property
    def names(self) -> dict[str, Json]:
        """All pairs, by name."""
        return {name_of(pair): pair for pair in self.pairs.values()}

    def note(self, number: int, pair: Json, runs: int, promise: float, *, probe: bool) -> None:
        """Note what a pair promises by some runs.

        Raises
        ------
        InputError
            If the number was another pair's.
        """
        if name_of(self.pairs.setdefault(number, pair)) != name_of(pair):
            raise InputError("target: its process compared two pairs of inputs under one number")
        if probe:
            self.probes.setdefault(number, []).append((runs, promise))
        else:
            self.promises[number] = promise

    def best(self, tested: Collection[int]) -> bool:
        """Whether the pairs that were tested are those that promised most, in all rounds."""
        rest = self.promises.keys() - tested
        worst = min(self.promises[number] for number in tested)
        if any(self.promises[number] > worst for number in rest):
            return False
        rounds = max(map(len, self.probes.values()), default=0)
        kept = set(self.promises)
        for step in reversed(range(rounds)):  # of those that a round ranked, it kept the best
            ranked = {number for number, found in self.probes.items() if len(found) > step}
            if not kept <= ranked:
                return False
            least = min(self.probes[number][step][1] for number in kept)
            if any(self.probes[number][step][1] > least for number in ranked - kept):
                return False
            if step and len(ranked) < min(RANKED, len(self.pairs)):
                return False
            kept = ranked
        return kept == set(self.pairs)

    def too_few(self, test: int) -> bool:
        """Whether fewer runs ranked the pairs than a test of `test` runs a side asks for."""
        least = min(_MOST_PROBE, test // (_LEAST_SHARE + 2 * len(self.pairs)))
        return any(max(runs for runs, _ in found) < least for found in self._last_round())

    def _last_round(self) -> list[list[tuple[int, float]]]:
        rounds = max(map(len, self.probes.values()), default=0)
        return [found for found in self.probes.values() if len(found) == rounds]

    def hold(self, wanted: Collection[Collection[str]], found: Callable[[Json], bool]) -> int:
        """How many of the pairs had to be there: all of one of `wanted`; all others are `found`.

        Raises
        ------
        InputError
            If some are missing, or there are others.
        """
        names = self.names
        fits = [set(one) for one in wanted if names.keys() >= set(one)]
        if not fits:
            raise InputError("target: its process did not compare the pairs of inputs that it was asked for")
        here = set.union(*fits)
        others = names.keys() - here
        if len(others) > _MOST_FOUND or not all(found(names[name]) for name in others):
            raise InputError("target: its process compared pairs of inputs that it was not asked for")
        return len(here)
