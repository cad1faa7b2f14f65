"""What the auditors of doubling episodes share: a bound that follows from their indices, and mutants."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.algorithms._episodes import Batches
from verifiable_dp.auditors._elimination import mean_noise
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE, c1_to_c4
from verifiable_dp.auditors._index import first_rewards
from verifiable_dp.core.algorithm import Algorithm, Query
from verifiable_dp.core.environments import bernoulli
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, IntArray
from verifiable_dp.registry import mutants
from verifiable_dp.registry.auditor import Mutant
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import TRIALS, Checking, CorrectOnly, MeanBound
from verifiable_dp.registry.wrapped import Listed

SHEET = Sheet(__file__)
mutant = SHEET.mutant

# The first arm is what ties favour.
TWO = bernoulli([0.1, 0.9], "two arms, gap .8")
# Horizon of the checks that mutants must fail: the bounds bind there, and uniform play breaks them.
SHORT = {"n_arms": 2, "horizon": 5000}


def misses(n_arms: int, alpha: float) -> float:
    """Pulls of one arm, in all, in episodes that begin while a mean lies outside its radius: at most this.

    After t rounds that has probability 3 (1 + log2 t) t^-alpha at most: for the best arm and the other one
    and each length of an episode, t^-alpha by Hoeffding's or Chernoff's bound and half of it for the noise.
    An episode has at most t rounds; the sum over t is bounded by that over powers of two.
    """
    first = int(math.log2(n_arms))
    return float(sum(3 * (j + 2) * 2.0 ** (j * (2 - alpha)) for j in range(first, first + 200)))


def pulls_bound(gaps: FloatArray, rule: Listed) -> FloatArray:
    """Pulls of arms with these gaps (m,) while all means lie within their radii.

    With u the least n with 2 sqrt(alpha log(2T)/(2n)) + 2 alpha log T/(epsilon n) <= Delta, no arm whose last
    episode had u rounds is played again; its pulls are twice that episode, and double.
    """
    spread = math.sqrt(rule.alpha * math.log(2 * rule.horizon) / 2)
    noise = rule.alpha * math.log(rule.horizon) / rule.epsilon
    least = ((spread + np.sqrt(spread**2 + 2 * gaps * noise)) / gaps) ** 2
    return np.asarray(np.where(least > 1, 4 * 2.0 ** np.floor(np.log2(least)), 1.0))


def regret_bound(gaps: FloatArray, rule: Listed) -> float:
    """Sum over arms of Delta_a times `pulls_bound` and `misses`."""
    bad = gaps[gaps > 0]
    pulls = pulls_bound(bad, rule) + misses(len(gaps), rule.alpha)
    return float(bad @ pulls)


BOUND_FORMULA = SHEET.words("bound")

ON_TWO = MeanBound([TWO], SHORT, TRIALS)
CHECKS = (ON_TWO, CorrectOnly(MeanBound(c1_to_c4)))

# ---------------------------------------------------------------- neighbours


def pairs(rule: Algorithm, later: int = 2) -> list[TablePair]:
    """The first reward of arm 0, or its reward in round `later` K + 1: with two arms in a longer episode."""
    early, number = first_rewards(rule), later * rule.n_arms
    late = []
    for pair in early[:2]:
        left = np.array(pair.worlds()[0])
        left[0, 0] = left[-1, 0]
        left[number, 0] = 0.0
        late.append(TablePair(left, number, 0, 1.0))
    return [early[0], late[0], early[1], late[1], *early[2:]]


# ---------------------------------------------------------------- mutants

NOISE_MUTANTS = (
    HALF_NOISE,
    NO_NOISE,
    mutant("noise of an arm is not reset", mutants.SHARED_BY_EPOCHS),
    mutant("one draw for everything", mutants.shared(lambda rule, slot: np.zeros_like(slot))),
)
PRIVACY_MUTANTS = (
    *NOISE_MUTANTS,
    mutant("no forgetting", mutants.Unforgetting),
    mean_noise("1/(epsilon n)"),
    mutant(
        "noise for all pulls",
        mutants.noise_by(
            lambda rule, state, query: query.pulls() / np.maximum(query.pulls() + state.pulls, 1)
        ),
    ),
)


def _same_noise(rule: Listed, slot: IntArray) -> IntArray:
    """Slots of sums by arm alone; coins keep theirs, beyond."""
    width = rule.n_arms + rule.coins
    return np.asarray(np.where(slot % width < rule.n_arms, slot % width, slot + width))


def _coins_are_noise(rule: Listed, slot: IntArray) -> IntArray:
    """A coin gets the slot of the sum of an arm."""
    return np.asarray(np.where(slot % (rule.n_arms + rule.coins) < rule.n_arms, slot, slot - rule.n_arms))


def _of_means(rule: Batches, state: Own, query: Query) -> FloatArray:
    """1 over the batch for sums, 1 for coins."""
    batch = np.maximum(rule.size(state.pulls + query.pulls()), 1)
    return np.hstack([1 / batch, np.ones((len(batch), rule.coins))])


COIN_MUTANTS = (
    HALF_NOISE,
    NO_NOISE,
    mutant("noise of an arm is not reset", mutants.shared(_same_noise)),
    mutant("one draw for coins", mutants.shared(lambda rule, slot: np.zeros_like(slot))),
    mutant("noise reused as a coin", mutants.shared(_coins_are_noise)),
)
BATCH_MUTANTS = (
    *COIN_MUTANTS,
    mutant("old batches", mutants.result("kept", lambda rule, kept, sums, full: sums)),
    mutant("sums with the noise of means", mutants.noise_by(_of_means)),
)
UNIFORM_CHOICE = mutants.result("choice", lambda rule, arm, state, released: state.pulls.argmin(axis=1))


def _turns(rule: Listed, index: FloatArray, state: Own) -> FloatArray:
    return np.asarray(-state.pulls, dtype=np.float64)


def order_mutants(caught_by: Checking) -> tuple[Mutant, ...]:
    """Faults of the order of play, which privacy does not see."""
    return (
        mutant("uniform play", mutants.result("index", _turns), caught_by),
        mutant("inverted", mutants.result("index", lambda rule, index, state: -index), caught_by),
    )


def timid(caught_by: Checking, of: str = "of the index") -> Mutant:
    """What is added to means is eight times what it should be."""
    return mutant("timid", mutants.result("width", lambda rule, width, state: 8 * width), caught_by, of=of)


def no_doubling(caught_by: Checking) -> Mutant:
    """Means of one reward, however often an arm was pulled."""
    return mutant(
        "no doubling",
        mutants.chained(
            mutants.result("rounds", lambda rule, rounds, state: np.ones_like(rounds)),
            mutants.result("last", lambda rule, last, state: np.ones_like(last)),
        ),
        caught_by,
    )
