"""A search for neighbours that lose more than is promised."""

from __future__ import annotations

import itertools
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from verifiable_dp.core import tosses
from verifiable_dp.core.adversaries import flatter
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.neighbours import (
    AnyPair,
    GroupPair,
    InteractivePair,
    StreamPair,
    TablePair,
    groups,
    interactive,
    streams,
    tables,
)
from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.evidence.alignment.replay import Replay, exceeds, replay

if TYPE_CHECKING:
    import hypothesis
    from hypothesis.strategies import SearchStrategy

_SIGNS = (1, -1, 0)  # the costliest first: examples shrink towards it


@dataclass(frozen=True)
class Found:
    """The costliest transcripts that were seen.

    Attributes
    ----------
    examined
        Number of transcripts.
    cost, loss
        Largest cost, and largest loss in absolute value.
    divergence
        Why a run left the recorded path; empty if none did.
    worst
        Counterexample or costliest case as plain values: pair, seed, sign, cost, loss, releases.
    """

    examined: int
    cost: float
    loss: float
    divergence: str
    worst: Json

    def merge(self, other: Found) -> Found:
        """Both together."""
        dearer = max(self, other, key=lambda found: found.cost)
        return Found(
            self.examined + other.examined,
            max(self.cost, other.cost),
            max(self.loss, other.loss),
            self.divergence or other.divergence,
            dearer.worst,
        )


NOTHING = Found(0, 0.0, 0.0, "", {})


def examine(algorithm: Algorithm, pair: AnyPair, *, seed: int, runs: int = 32) -> Found:
    """Replay a pair in both directions, with free and with one-sided noise."""
    found = NOTHING
    for turned in (False, True):
        for sign in _SIGNS:
            count = runs if sign == 0 else 1
            done = replay(algorithm, pair, seed=seed, sign=sign, runs=count, turned=turned)
            cost = np.where(done.square > 0, np.inf, done.cost)  # of normal noise no loss is the largest
            worst = int(np.argmax(cost))
            found = found.merge(
                Found(
                    count,
                    float(cost[worst]),
                    float(np.abs(done.loss).max()),
                    next(iter(done.diverged.values()), ""),
                    _counterexample(pair, done, worst, seed, sign, turned),
                )
            )
    return found


def _counterexample(pair: AnyPair, done: Replay, run: int, seed: int, sign: int, turned: bool) -> JsonDict:
    rows = done.tape.rows(run)[:12]
    return {
        "pair": pair.as_dict(),
        "seed": seed,
        "sign": sign,
        "run": run,
        "turned": turned,
        "cost": plain(float(done.cost[run])),
        "loss": plain(float(done.loss[run])),
        "divergence": done.diverged.get(run, ""),
        "releases": [{name: row[name] for name in ("slot", "value", "scale", "output")} for row in rows],
    }


def plain(number: float) -> float | str:
    """The number, or ``inf``, ``-inf``, ``nan`` as a string: JSON has none of these."""
    return number if np.isfinite(number) else str(number)


def _strategy(algorithm: Algorithm, group: int = 1) -> SearchStrategy[AnyPair]:
    if group > 1:
        most = min(group, algorithm.horizon)
        return groups(
            n_arms=algorithm.n_arms, horizon=algorithm.horizon, size=most, bounds=algorithm.search_bounds
        )
    if algorithm.n_arms == 1:
        return streams(horizon=algorithm.horizon, bounds=algorithm.search_bounds)
    shape: JsonDict = {
        "n_arms": algorithm.n_arms,
        "horizon": algorithm.horizon,
        "bounds": algorithm.search_bounds,
    }
    # A table is the simpler counterexample: examples shrink towards it.
    kinds: list[SearchStrategy[AnyPair]] = [tables(**shape), interactive(**shape)]
    return tosses.below(len(kinds)).flatmap(kinds.__getitem__)


def _corners(algorithm: Algorithm, group: int = 1) -> Iterator[AnyPair]:
    """Pairs that every search begins with: the simplest of each kind, by where they differ.

    That is at either end, and at powers of two, where blocks and trees begin.
    """
    bounds, arms, horizon = algorithm.search_bounds, algorithm.n_arms, algorithm.horizon
    low, high = bounds
    lows = np.full((horizon, arms), float(low))
    places = {0, horizon - 1, max(0, horizon - 2), *(1 << bit for bit in range((horizon - 1).bit_length()))}
    for at in sorted(places):
        if group > 1:
            most = min(group, horizon)
            first = min(at, horizon - most)
            yield GroupPair(lows, [(first + more, 0, high) for more in range(most)], bounds)
        elif arms == 1:
            yield StreamPair(lows[:, 0], at, high, 1, bounds)
        else:
            yield TablePair(lows, at, 0, high, bounds)
            yield InteractivePair(flatter(bounds, 0), at, low, high, bounds)


@contextmanager
def leaving_nothing() -> Iterator[None]:
    """Let hypothesis keep what it caches out of the user's folder."""
    from hypothesis.configuration import set_hypothesis_home_dir

    with tempfile.TemporaryDirectory(prefix="verifiable-dp-") as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)


def searching(examples: int) -> hypothesis.settings:
    """hypothesis's settings of a search by itself: quiet, not timed, knowing of none before it."""
    from hypothesis import HealthCheck, Phase, Verbosity, settings

    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


def falsify(
    algorithm: Algorithm,
    epsilon: float,
    *,
    seed: int,
    examples: int,
    visible: bool = False,
    group: int = 1,
) -> Found:
    """Look for a transcript that costs more than epsilon: at corners, then with hypothesis, which shrinks it.

    Parameters
    ----------
    algorithm
        A small instance.
    epsilon
        The claim.
    seed
        Of the search: the same seed finds the same.
    examples
        Largest number of examples beyond the corners, before shrinking.
    visible
        Look for an exact loss above epsilon rather than for a cost.
    group
        Number of events in which the inputs may differ.
    """
    from hypothesis import find
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample

    seen = NOTHING

    def costs_too_much(drawn: tuple[AnyPair, int, int, bool]) -> bool:
        nonlocal seen
        pair, noise_seed, sign, turned = drawn
        done = replay(algorithm, pair, seed=noise_seed, sign=sign, turned=turned)
        seen = seen.merge(
            Found(
                1,
                float(done.cost[0]),
                float(abs(done.loss[0])),
                done.diverged.get(0, ""),
                _counterexample(pair, done, 0, noise_seed, sign, turned),
            )
        )
        return exceeds(abs(done.loss[0]) if visible else done.cost[0], epsilon)

    smallest: tuple[AnyPair, int, int, bool] | None = None
    for corner, sign in itertools.product(_corners(algorithm, group), (1, -1)):
        if costs_too_much((corner, 0, sign, False)):
            smallest = corner, 0, sign, False
            break
    else:
        drawn = st.tuples(_strategy(algorithm, group), tosses.below(8), tosses.one_of(_SIGNS), st.booleans())
        settings = searching(examples)
        with leaving_nothing(), suppress(NoSuchExample):
            smallest = find(drawn, costs_too_much, settings=settings, random=random.Random(seed))
    if smallest is None:
        return seen
    pair, noise_seed, sign, turned = smallest
    done = replay(algorithm, pair, seed=noise_seed, sign=sign, turned=turned)
    return replace(seen, worst=_counterexample(pair, done, 0, noise_seed, sign, turned))
