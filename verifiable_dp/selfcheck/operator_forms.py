"""What a mutation operator is, and what it may know of an algorithm."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Query, Truncated, play
from verifiable_dp.core.neighbours import AnyPair, TablePair
from verifiable_dp.core.noise import Draw, Noise, Seeded
from verifiable_dp.core.tapes import Recorder, Replayer
from verifiable_dp.core.validate import FloatArray, InputError, IntArray
from verifiable_dp.evidence.alignment.replay import worlds
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.auditor import Mutant

FAMILIES = ("scale", "law", "sharing", "answer", "truncation", "schedule")
_RUNS = 4
_PAIRS = 4


@dataclass(frozen=True)
class Traits:
    """What an algorithm asks of its source of noise, as a few runs on some neighbours show.

    Attributes
    ----------
    observe
        What the adversary of its claim sees.
    laplace, reports, hidden
        Whether it releases values, releases sums of reports, keeps noise to itself.
    width
        Most values that are released together.
    blocks
        Most blocks of a run that release something.
    entries
        Most released values that one reward was seen to enter.
    truncated
        Whether truncated sums are asked for.
    """

    observe: str
    laplace: bool
    reports: bool
    hidden: bool
    width: int
    blocks: int
    entries: int
    truncated: bool

    @property
    def visible(self) -> bool:
        """Whether all noise belongs to values that the adversary sees."""
        return not self.hidden and self.observe in ("releases", "reports")

    @property
    def shuffled(self) -> bool:
        """Whether reports reach the adversary in random order."""
        return self.observe == "shuffled"


@dataclass
class _Notes:
    """Passes noise on and notes what was asked for."""

    inner: Noise
    laplaces: int = 0
    summed: int = 0
    kept: int = 0
    width: int = 0
    blocks: int = 0
    truncated: bool = False

    def __call__(self, draw: Draw) -> FloatArray:
        asked = int(draw.where.any())
        if draw.hidden is not None:
            self.kept += asked
        else:
            self.width = max(self.width, int(draw.where.sum(axis=1).max(initial=0)))
            self.laplaces += asked * (draw.count is None)
            self.summed += asked * (draw.count is not None)
        return np.asarray(self.inner(draw))

    def block(self, position: IntArray, query: Query) -> None:
        """See `algorithm.Watch`."""
        self.blocks += bool(query.complete.any())
        self.truncated |= isinstance(query.ask, Truncated)


def neighbours(algorithm: Algorithm) -> list[AnyPair]:
    """The auditor's neighbours of an algorithm; without an auditor the first reward low against high."""
    found = registry.find(algorithm)
    if found is not None:
        return list(found.pairs(algorithm))[:_PAIRS]
    low, high = algorithm.search_bounds
    shape = (algorithm.horizon, algorithm.n_arms)
    levels = (low, (low + high) / 2, high)
    return [
        TablePair(np.full(shape, level), 0, 0, high if level < high else low, (low, high)) for level in levels
    ]


@functools.lru_cache(maxsize=256)
def traits(algorithm: Algorithm) -> Traits:
    """Play some runs and look on."""
    run = np.arange(_RUNS)
    notes = _Notes(Seeded(0))
    entries = 0
    blocks = 0
    for pair in neighbours(algorithm):
        left, right = worlds(pair, algorithm.n_arms, _RUNS)
        recorder = Recorder(Seeded(0))
        notes.inner, notes.blocks = recorder, 0
        play(algorithm, left, notes, run, keep=(), watch=notes)
        blocks = max(blocks, notes.blocks)
        tape = recorder.tape()
        again = Recorder(Replayer(tape, _RUNS))
        play(algorithm, right, again, run, keep=())
        entries = max(entries, _moved(tape.rows(), again.tape().rows()))
    claim = algorithm.claim
    return Traits(
        claim.observe if claim else "actions",
        notes.laplaces > 0,
        notes.summed > 0,
        notes.kept > 0,
        notes.width,
        blocks,
        entries,
        notes.truncated,
    )


def _moved(there: Sequence[dict[str, float]], here: Sequence[dict[str, float]]) -> int:
    """Most releases of a run whose exact values differ."""
    values = {(row["run"], row["slot"]): row["value"] for row in there}
    counts: dict[float, int] = {}
    for row in here:
        was = values.get((row["run"], row["slot"]), row["value"])
        if abs(was - row["value"]) > 1e-9:
            counts[row["run"]] = counts.get(row["run"], 0) + 1
    return max(counts.values(), default=0)


Number = Callable[[Traits], float | None]
Break = Callable[[Algorithm], Algorithm]


@dataclass(frozen=True)
class Operator:
    """A fault that can be put into algorithms.

    Parameters
    ----------
    name
        Short and unique.
    fault
        What is wrong with a mutant, in a sentence.
    family
        What is broken: ``scale``, ``law`` or ``sharing`` of the noise, the ``answer`` that gets noise, the
        ``truncation`` of rewards, or the ``schedule``.
    make
        Turns an algorithm into the broken one; parameters stay.
    fits
        `fits(traits)`: whether the fault changes anything in an algorithm of this kind.
    factor
        `factor(traits)`: what the fault multiplies the privacy loss of the worst inputs by, where that
        follows from the mechanism; None where it has to be measured. Infinite if exact data leak.

    Raises
    ------
    InputError
        If the family is unknown.
    """

    name: str
    fault: str
    family: str
    make: Break
    fits: Callable[[Traits], bool]
    factor: Number

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise InputError(f"family must be one of {', '.join(FAMILIES)}, got {self.family!r}")

    def applies(self, algorithm: Algorithm) -> bool:
        """Whether the fault changes what this algorithm does."""
        return algorithm.claim is not None and self.fits(traits(algorithm))

    def effect(self, algorithm: Algorithm, loss: float) -> float | None:
        """The mutant's true epsilon, if it follows from the algorithm's own largest `loss`; else None."""
        factor = self.factor(traits(algorithm))
        # Exact data leak whatever the algorithm loses by itself.
        return factor if factor is None or np.isinf(factor) else factor * loss

    def mutant(self) -> Mutant:
        """As an auditor lists its own."""
        return Mutant(self.name, self.fault, self.make)


def draws_noise(found: Traits) -> bool:
    """For releases, for reports or for itself."""
    return found.laplace or found.reports or found.hidden


def draws_for_releases(found: Traits) -> bool:
    """Values with noise of their own; of sums of reports every report would have to be broken."""
    return found.laplace and not found.shuffled


def asks_sums(found: Traits) -> bool:
    """Whether it has sums to change, and noise of its own on what it tells of them."""
    return (found.laplace or found.reports) and not found.shuffled


def always(factor: float) -> Number:
    """The factor on every visible loss; hidden noise leaves it open unless it is infinite."""

    def known(found: Traits) -> float | None:
        return factor if found.visible or np.isinf(factor) else None

    return known


def not_known(found: Traits) -> None:
    """A `Number`: what the fault does to the loss depends on the algorithm."""
    return None
