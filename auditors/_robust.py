"""What the auditors of robust elimination share: neighbours, bounds on pulls and regret, mutants."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from verifiable_dp._validate import BoolArray, FloatArray
from verifiable_dp.algorithm import Query
from verifiable_dp.algorithms._robust import LINE
from verifiable_dp.auditing.auditor import AlteredNoise, Mutant
from verifiable_dp.auditors import _elimination as family
from verifiable_dp.auditors._shared import (
    HALF_NOISE,
    TABLE_RUNS,
    mean_regret,
    noise_times,
    original,
    with_parameters,
)
from verifiable_dp.environments import Discrete, TwoPoint, bernoulli, hard
from verifiable_dp.evidence import regret as evidence
from verifiable_dp.evidence import tables
from verifiable_dp.evidence.check import Check
from verifiable_dp.neighbours import TablePair
from verifiable_dp.simulation import Simulation, simulate

TWO_ARMS = bernoulli([0.8, 0.2], "two arms in [0, 1]")
NEAR_TIES = bernoulli([0.501, 0.5], "near ties")
LONG = 4 * 10**18  # lower bounds speak of horizons near the end of whole numbers
Player = Callable[[Discrete], Simulation]

# ---------------------------------------------------------------- neighbours


def pairs(algorithm: Any) -> list[TablePair]:
    """Tables near the thresholds of the first two epochs: a reward moves from -B to B."""
    pulls, limit, threshold = algorithm.schedule
    k = algorithm.n_arms
    epochs, start = [], 0
    for number, size in ((1, k), (2, 2)):
        end = start + size * int(pulls[number, size])
        if number > 1 and end > algorithm.horizon:
            break
        # In units of the range 2 B of a reward.
        gap = float(threshold[number, size] / (2 * limit[number, size]))
        epochs.append(family.Epoch(start, int(pulls[number, size]), gap, size))
        start = end
    limits = [float(limit[n, e.size]) for n, e in enumerate(epochs, start=1)]
    # The noise of a sum of n reports is about sqrt(2 n) times that of one release.
    local = algorithm.claim.observe == "reports"
    precision = algorithm.epsilon / (math.sqrt(2 * epochs[0].pulls) if local else 1.0)
    found = family.near_threshold(k, algorithm.horizon, precision, epochs)
    return [_widened(pair, [e.start for e in epochs], limits) for pair in found]


def _widened(pair: TablePair, starts: Sequence[int], limits: Sequence[float]) -> TablePair:
    """A pair of rewards in [0, 1] as one of rewards in [-B, B], with the B of each epoch."""
    which = np.searchsorted(np.array(starts), np.arange(len(pair.left)), side="right") - 1
    limit = np.array(limits)[which]
    table = limit[:, None] * (2 * pair.left - 1)
    most = max(limits)
    value = float(limit[pair.round] * (2 * pair.value - 1))
    return TablePair(table, pair.round, pair.arm, value, (-most, most))


def outside(algorithm: Any) -> TablePair:
    """A reward far outside the truncation moves to the other side; it must cost nothing."""
    limit = algorithm.search_bounds[1]
    table = np.zeros((algorithm.horizon, algorithm.n_arms))
    table[0, 0] = -4 * limit
    return TablePair(table, 0, 0, 4 * limit, (-4 * limit, 4 * limit))


# ---------------------------------------------------------------- bounds


def pulls_bound(gaps: FloatArray, algorithm: Any) -> FloatArray:
    """Pulls of arms with these gaps, w.p. 1 - beta: all epochs up to the first with D <= gap.

    The threshold is D/2 or a little less and covers the errors of two means, so that an arm whose gap is
    D or more goes in that epoch at the latest.
    """
    rule = original(algorithm)
    epochs = np.ceil(np.log2(1 / np.minimum(gaps, 1.0))).astype(int)
    number = np.maximum(epochs, 1)
    pulls, _, _ = rule.epochs(np.float64(rule.n_arms), np.arange(1, number.max() + 1, dtype=np.float64))
    return np.asarray(np.cumsum(pulls)[number - 1], dtype=np.float64)


def regret_bound(gaps: FloatArray, algorithm: Any) -> float:
    """Mean regret: the gaps times their bound on pulls, and beta T times the largest gap."""
    bad = gaps[gaps > 0]
    rule = original(algorithm)
    return float(bad @ pulls_bound(bad, rule) + float(rule.beta or 0.0) * rule.horizon * bad.max())


def minimax_regret_bound(algorithm: Any) -> float:
    """Mean regret whatever the gaps: arms nearer than D cost T D, the others their bound on pulls.

    min over D = 2^-j of T D + (K - 1) max_{i <= j} 2^(1-i) P_i, and beta T + (K - 1) P_1 times the largest
    gap that the moment allows; P_i is the sum of the first i epochs.
    """
    rule = original(algorithm)
    epoch = np.arange(1, 63, dtype=np.float64)
    with np.errstate(over="ignore"):
        pulls = np.cumsum(rule.epochs(np.float64(rule.n_arms), epoch)[0])
    far = (rule.n_arms - 1) * np.maximum.accumulate(2.0 ** (1 - epoch) * pulls)
    widest = 2 * rule.u ** (1 / (1 + rule.v))
    rest = widest * (float(rule.beta or 0.0) * rule.horizon + (rule.n_arms - 1) * pulls[0])
    return float(np.min(rule.horizon * 2.0**-epoch + far) + rest)


def minimax_regret(algorithm: Any, claim: str, *, budget: str, seed: int, workers: int) -> Check:
    """Regret on two arms in [0, 1] whose gap is the least that could break the bound twice over."""
    played = with_parameters(algorithm, n_arms=2, horizon=LONG, beta=None)
    gap = min(2 * minimax_regret_bound(played) / LONG, 1.0)
    where = bernoulli([0.5 + gap / 2, 0.5 - gap / 2], "two arms at twice the bound over T")
    check, _ = mean_regret(
        played,
        where,
        lambda gaps, t: minimax_regret_bound(with_parameters(played, horizon=max(int(t), 2), beta=None)),
        claim=claim,
        budget=budget,
        seed=seed,
        workers=workers,
    )
    return check


# ---------------------------------------------------------------- lower bounds


def player(algorithm: Any, horizon: int, runs: int, seed: int) -> Player:
    """Plays the algorithm on an instance with any number of arms."""

    def play(instance: Discrete) -> Simulation:
        played = with_parameters(algorithm, n_arms=instance.n_arms, horizon=horizon, beta=None)
        return simulate(played, instance, runs=runs, seed=seed, points=2)

    return play


def least_pulls(gaps: FloatArray, *, horizon: float, epsilon: float, v: float, theorem: int) -> FloatArray:
    """Theorems 5 and 10: t_a = log T/(100 epsilon c^(1/v)) Delta_a^(-(1+v)/v), c = 4 and 5, for gaps (m,)."""
    constant = 100 * epsilon * {5: 4.0, 10: 5.0}[theorem] ** (1 / v)
    return np.asarray(math.log(horizon) / constant * np.asarray(gaps) ** (-(1 + v) / v))


def central_lower_bound(
    play: Player, theorem: int, *, n_arms: int, epsilon: float, v: float, horizon: int = LONG
) -> Check:
    """Theorem 5 or 10 as proved: w.p. at least 1 - (K - 1)/(2 K), or 1/2, every other arm exceeds t_a pulls.

    It speaks of algorithms with regret of at most T^(3/4) on the instance and where an arm is changed, so
    that a run counts as a failure only if the mean regrets keep that; vacuous if they do not. The gaps
    exceed the least with T^.13 > 4 K/Delta (Theorem 10: 4/Delta) by a twentieth.
    """
    least = 4.2 * (n_arms if theorem == 5 else 1) / horizon**0.13
    gaps = [least] * (n_arms - 1)
    done = play(hard(theorem, v=v, gaps=gaps))
    others = [play(hard(theorem, v=v, gaps=gaps, changed=arm)) for arm in range(1, n_arms)]
    worst = max(float(run.regret.mean()) for run in (done, *others))
    premise = worst <= horizon**0.75
    pulls = least_pulls(np.array(gaps), horizon=horizon, epsilon=epsilon, v=v, theorem=theorem)
    few = (done.pulls[:, 1:] <= pulls).any(axis=1)
    return evidence.probability(
        f"theorem-{theorem} on its hard instance",
        few & premise,
        probability=(n_arms - 1) / (2 * n_arms) if theorem == 5 else 0.5,
        vacuous=not premise,
        claim=f"theorem-{theorem}",
        instance=f"hard instance of Theorem {theorem}",
        horizon=horizon,
        gaps=gaps,
        least_pulls=pulls,
        regret=float(done.regret.mean()),
        regret_bound=float(np.dot(gaps, pulls)) / 2,
        largest_regret=worst,
    )


def _divergence(instance: Discrete, changed: Discrete, arm: int) -> float:
    """Kullback-Leibler divergence of the laws of an arm, original to changed; same rewards."""
    p, q = np.array(instance.chances[arm]), np.array(changed.chances[arm])
    return float(np.sum(p * np.log(p / q)))


def _cost(epsilon: float) -> float:
    """Factor of Lemma 15: reports of a pull tell apart at most this times the divergence of the rewards."""
    return 8 * math.expm1(epsilon) ** 2


def local_lower_bound(
    play: Player, theorem: int, *, gaps: Sequence[float], epsilon: float, v: float, horizon: int = LONG
) -> Check:
    """Theorem 8 or 11 as proved, before the limit.

    By the inequality of Bretagnolle and Huber and Lemma 15, every epsilon-LDP algorithm pulls arm a at least
    log(T Delta_a/(4 (R + R_a)))/(8 (e^epsilon - 1)^2 KL_a) times in the mean, with R its regret on the
    instance and R_a its regret where arm a is changed. Both are measured; six standard errors are added.
    """
    instance = hard(theorem, v=v, gaps=gaps)
    done = play(instance)
    least = np.zeros(len(gaps))
    for arm, gap in enumerate(gaps, start=1):
        other = hard(theorem, v=v, gaps=gaps, changed=arm)
        both = max(_upper(done.regret) + _upper(play(other).regret), gap)
        needed = math.log(horizon * gap / (4 * both)) / (_cost(epsilon) * _divergence(instance, other, arm))
        least[arm - 1] = max(needed, 0.0)
    bound = float(np.dot(gaps, least))
    return _at_least(
        done.regret,
        bound,
        claim=f"theorem-{theorem}",
        instance=f"hard instance of Theorem {theorem}",
        horizon=horizon,
        gaps=list(gaps),
        least_pulls=least,
    )


def _at_least(regret: FloatArray, bound: float, *, claim: str, **about: Any) -> Check:
    """Check that mean regret is at least `bound`; vacuous where that is 0."""
    return evidence.mean_at_least(f"{claim} on its hard instance", regret, bound=bound, claim=claim, **about)


def minimax_bound(gap: float, *, n_arms: int, horizon: int, epsilon: float, v: float) -> float:
    """Theorem 9 as proved: T Delta/4 exp(-8 (e^epsilon - 1)^2 T/(K - 1) KL), of the sum of two regrets."""
    gaps = [gap] * (n_arms - 1)
    divergence = _divergence(hard(9, v=v, gaps=gaps), hard(9, v=v, gaps=gaps, changed=1), 1)
    return horizon * gap / 4 * math.exp(-_cost(epsilon) * horizon / (n_arms - 1) * divergence)


def minimax_lower_bound(
    play: Player, *, n_arms: int, epsilon: float, v: float, horizon: int, claim: str = "theorem-9"
) -> Check:
    """Theorem 9 as proved: the regrets on the instance and where the least pulled arm is changed add up.

    Their sum is at least `minimax_bound`, so that one of the two is at least half of it; the gap is that of
    the largest bound.
    """

    def bound_at(gap: float) -> float:
        return minimax_bound(gap, n_arms=n_arms, horizon=horizon, epsilon=epsilon, v=v)

    gap = best_gap(bound_at)
    gaps = [gap] * (n_arms - 1)
    done = play(hard(9, v=v, gaps=gaps))
    arm = 1 + int(done.pulls[:, 1:].mean(axis=0).argmin())
    both = done.regret + play(hard(9, v=v, gaps=gaps, changed=arm)).regret
    return _at_least(
        both, bound_at(gap), claim=claim, instance="hard instances of Theorem 9", horizon=horizon, gap=gap
    )


# ---------------------------------------------------------------- every algorithm on the hard instances


def central_minimax_bound(gap: float, *, horizon: int, epsilon: float, v: float) -> float:
    """T Delta/2 exp(-3 epsilon T TV), TV = 2 Delta s: of the sum of the regrets on both laws of Theorem 10.

    Arm 2 is pulled at most T/2 times with probability P here and P' where it is changed. That depends on its
    first T/2 rewards only, so that P' >= P e^(-6 epsilon (T/2) TV) for every epsilon-DP algorithm (Karwa &
    Vadhan 2018, Lemma 6.1); and the regrets are at least Delta T/2 (1 - P) and Delta T/2 P'.
    """
    size = (5 * gap) ** (1 / v)
    return horizon * gap / 2 * math.exp(-3 * epsilon * horizon * 2 * gap * size)


def best_gap(bound: Callable[[float], float]) -> float:
    """The gap of the largest bound, on a grid."""
    grid: list[float] = np.geomspace(1e-9, 0.199, 400).tolist()
    return max(grid, key=bound)


def in_unit_interval(instance: Discrete) -> tuple[TwoPoint, float]:
    """The instance for algorithms of rewards in [0, 1]: its rewards 0 and x are divided by x; and x.

    To divide rewards by a constant and play on is epsilon-DP as well.
    """
    scale = instance.rewards[0][1]
    return TwoPoint(tuple(mean / scale for mean in instance.means), 0.0, 1.0, instance.name), scale


def regret_on(algorithm: Any, instance: Discrete, *, runs: int, seed: int) -> FloatArray:
    """Regret by run of an algorithm of any range, in the instance's units, (runs,)."""
    where, scale = (instance, 1.0) if algorithm.bounds == LINE else in_unit_interval(instance)
    return np.asarray(scale * simulate(algorithm, where, runs=runs, seed=seed, points=2).regret)


def on_both(
    algorithm: Any, theorem: int, gaps: Sequence[float], *, v: float, runs: int, seed: int
) -> FloatArray:
    """Sum of the regrets on an instance and where its last arm is changed, by run, (runs,)."""
    here, there = hard(theorem, v=v, gaps=gaps), hard(theorem, v=v, gaps=gaps, changed=len(gaps))
    own = regret_on(algorithm, here, runs=runs, seed=seed)
    return own + regret_on(algorithm, there, runs=runs, seed=seed + 1)


def floor_table(
    algorithms: Callable[[float], Sequence[Any]],
    bound: Callable[[float, float], float],
    theorem: int,
    *,
    n_arms: int,
    horizon: int,
    v: float,
    epsilons: Sequence[float],
    budget: str,
    seed: int,
    caption: str,
) -> Check:
    """`algorithms(epsilon)` on a theorem's hard instances, at the gap of the largest `bound(gap, epsilon)`.

    The bound is on the sum of two regrets; half of it bounds one of the two.
    """
    rows = []
    for epsilon in epsilons:
        gap = best_gap(lambda gap, epsilon=epsilon: bound(gap, epsilon))  # type: ignore[misc]
        for algorithm in algorithms(epsilon):
            both = on_both(algorithm, theorem, [gap] * (n_arms - 1), v=v, runs=TABLE_RUNS[budget], seed=seed)
            rows.append(
                tables.floor_row(
                    both,
                    bound=bound(gap, epsilon),
                    algorithm=algorithm.name,
                    instance=f"Theorem {theorem}, gap {gap:.3g}",
                    epsilon=epsilon,
                    horizon=horizon,
                )
            )
    return tables.floors(
        f"theorem-{theorem} on every algorithm of the model",
        rows,
        claim=f"theorem-{theorem}",
        caption=caption,
        measured="sum of two regrets",
    )


def _upper(regret: FloatArray) -> float:
    """Mean and six standard errors."""
    return float(regret.mean() + 6 * regret.std() / math.sqrt(len(regret)))


# ---------------------------------------------------------------- mutants


class Untruncated:
    """Mixed in: the rewards themselves are summed; the noise is that of truncated ones."""

    def query(self, state: Any) -> Query:
        """Asks for plain sums."""
        this: Any = super()
        query: Query = this.query(state)
        return replace(query, ask=None)


class Hasty:
    """Mixed in: removes every arm but the one with the largest noisy mean."""

    def removed(self, state: Any, released: FloatArray) -> BoolArray:
        """Any gap is enough."""
        this: Any = super()
        return np.asarray(this.removed(state, 1e9 * released))


class Inverted:
    """Mixed in: removes the arms far above the smallest mean."""

    def removed(self, state: Any, released: FloatArray) -> BoolArray:
        """The comparison is turned round."""
        this: Any = super()
        return np.asarray(this.removed(state, -released))


def mutants(cls: type[Any], *, local: bool = False) -> list[Mutant]:
    """Mutants of an algorithm of the family; the classes are made of `cls` and a mixin.

    Reused noise is left out of the local model: there an epoch that keeps all arms needs very many reports.
    """

    def mixed(mixin: type[Any]) -> Any:
        broken: Any = type(mixin.__name__, (mixin, cls), {"__module__": __name__, "__doc__": mixin.__doc__})
        return lambda algorithm: broken(**algorithm.parameters)

    def arms(algorithm: Any) -> int:
        return int(original(algorithm).n_arms)

    found = [
        HALF_NOISE,
        Mutant(
            "one draw for all arms",
            "the same noise is added to every arm, so that it cancels where means are compared",
            lambda algorithm: AlteredNoise(algorithm, reslot=lambda slot: slot // arms(algorithm)),
        ),
        Mutant(
            "no forgetting",
            "means are over all epochs, so that a reward enters several releases",
            mixed(family.NoForgetting),
        ),
        noise_times(0.0, "raw comparison", "arms are removed by exact means"),
        Mutant(
            "noise of means on sums",
            "sums get noise that is divided by the number of pulls",
            mixed(family.NoiseOfMeans),
        ),
        Mutant(
            "one draw for all epochs",
            "an arm gets the same noise in every epoch, so that differences of its sums are exact",
            lambda algorithm: AlteredNoise(algorithm, reslot=lambda slot: slot % arms(algorithm)),
        ),
        Mutant(
            "no truncation",
            "rewards are summed as they are, with the noise that truncated ones need",
            mixed(Untruncated),
        ),
        Mutant(
            "hasty",
            "every arm but the one that looks best is removed after the first epoch",
            mixed(Hasty),
            "regret",
            f"{'pulls' if local else 'lemma-4'} survival on near ties",
        ),
        Mutant(
            "inverted",
            "the best arms are removed",
            mixed(Inverted),
            "regret",
            f"{'pulls' if local else 'lemma-4'} pulls on two arms in [0, 1]",
        ),
    ]
    return [m for m in found if not (local and m.name == "one draw for all epochs")]
