"""What the auditors of robust elimination share: neighbours, bounds on pulls and regret, mutants."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.algorithms._robust import LINE, RobustElimination
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.auditors import _elimination as family
from verifiable_dp.auditors._first_neighbours import HALF_NOISE
from verifiable_dp.auditors._settings import hard
from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.environments import Discrete, TwoPoint, bernoulli
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.simulation import Simulation, simulate
from verifiable_dp.core.validate import FloatArray, Function, JsonValue
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.floors import floor_row, floors
from verifiable_dp.evidence.regret.mean_at_least import mean_at_least
from verifiable_dp.evidence.regret.probability import probability
from verifiable_dp.registry import mutants
from verifiable_dp.registry.auditor import Mutant
from verifiable_dp.registry.mutants import gap_times
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.study import StudyOutcome
from verifiable_dp.registry.theorems import TABLE_RUNS, MeanBound, Pulls, Runs, Survival, TheoremTrial
from verifiable_dp.registry.wrapped import Listed, with_parameters

SHEET = Sheet(__file__)
mutant = SHEET.mutant

TWO_ARMS = bernoulli([0.8, 0.2], "two arms in [0, 1]")
NEAR_TIES = bernoulli([0.501, 0.5], "near ties")
LONG = 4 * 10**18  # lower bounds speak of horizons near the end of whole numbers
Player = Callable[[Discrete], Simulation | StudyOutcome]

# ---------------------------------------------------------------- neighbours


def pairs(rule: Listed) -> list[TablePair]:
    """Tables near the thresholds of the first two epochs, and one with a reward outside the truncation."""
    found = family.first_epochs(rule)
    limits = [float(rule.limits[number, epoch.size]) for number, epoch in enumerate(found, start=1)]
    # Gaps in units of the range 2 B of a reward.
    epochs = [replace(e, limit=e.limit / (2 * limit)) for e, limit in zip(found, limits, strict=True)]
    # The noise of a sum of n reports is about sqrt(2 n) times that of one release.
    local = rule.claim.observe == "reports"
    precision = rule.epsilon / (math.sqrt(2 * epochs[0].pulls) if local else 1.0)
    near = [
        _widened(pair, [e.start for e in epochs], limits)
        for pair in family.near_threshold(rule.n_arms, rule.horizon, precision, epochs)
    ]
    return [*near[:3], outside(rule), *near[3:]]


def _widened(pair: TablePair, starts: Sequence[int], limits: Sequence[float]) -> TablePair:
    """A pair of rewards in [0, 1] as one of rewards in [-B, B], with the B of each epoch."""
    which = np.searchsorted(np.array(starts), np.arange(len(pair.left)), side="right") - 1
    limit = np.array(limits)[which]
    table = limit[:, None] * (2 * pair.left - 1)
    most = max(limits)
    value = float(limit[pair.round] * (2 * pair.value - 1))
    return TablePair(table, pair.round, pair.arm, value, (-most, most))


def outside(algorithm: Algorithm) -> TablePair:
    """A reward far outside the truncation moves to the other side; it must cost nothing."""
    limit = algorithm.search_bounds[1]
    table = np.zeros((algorithm.horizon, algorithm.n_arms))
    table[0, 0] = -4 * limit
    return TablePair(table, 0, 0, 4 * limit, (-4 * limit, 4 * limit))


# ---------------------------------------------------------------- bounds


def epoch_lengths(rule: Listed, epoch: FloatArray) -> FloatArray:
    """R_tau from the parameters of an algorithm, in the closed form of its listing."""
    about = {name: getattr(rule, name) for name in ("n_arms", "epsilon", "v", "u")}
    about |= {"failure": float(rule.beta or 1 / rule.horizon)}
    if isinstance(rule.constants, float | int):
        about["factor"] = rule.constants
    if rule.claim.observe != "reports":
        return np.asarray(closed_forms.dp_robust_se_epoch(epoch, **about))
    base = 4.0 if rule.variant == "printed" else 2.0
    return np.asarray(closed_forms.ldp_robust_se_epoch(epoch, base=base, **about))


def pulls_bound(gaps: FloatArray, rule: RobustElimination) -> FloatArray:
    """Pulls of arms with these gaps, w.p. 1 - beta: all epochs up to the first with D <= gap.

    The threshold is D/2 or a little less and covers the errors of two means, so that an arm whose gap is
    D or more goes in that epoch at the latest.
    """
    number = np.array([closed_forms.first_epoch(gap) for gap in gaps.tolist()])
    pulls = epoch_lengths(rule, np.arange(1, number.max() + 1, dtype=np.float64))
    return np.asarray(np.cumsum(pulls)[number - 1], dtype=np.float64)


def regret_bound(gaps: FloatArray, rule: RobustElimination) -> float:
    """Mean regret: the gaps times their bound on pulls, and beta T times the largest gap."""
    bad = gaps[gaps > 0]
    return float(bad @ pulls_bound(bad, rule) + float(rule.beta or 0.0) * rule.horizon * bad.max())


def minimax_regret_bound(gaps: FloatArray, rule: RobustElimination) -> float:
    """Mean regret whatever the gaps: arms nearer than D cost T D, the others their bound on pulls.

    min over D = 2^-j of T D + (K - 1) max_{i <= j} 2^(1-i) P_i, and beta T + (K - 1) P_1 times the largest
    gap that the moment allows; P_i is the sum of the first i epochs.
    """
    epoch = np.arange(1, 63, dtype=np.float64)
    with np.errstate(over="ignore"):
        pulls = np.cumsum(epoch_lengths(rule, epoch))
    far = (rule.n_arms - 1) * np.maximum.accumulate(2.0 ** (1 - epoch) * pulls)
    widest = 2 * rule.u ** (1 / (1 + rule.v))
    rest = widest * (float(rule.beta or 0.0) * rule.horizon + (rule.n_arms - 1) * pulls[0])
    return float(np.min(rule.horizon * 2.0**-epoch + far) + rest)


def minimax(trial: TheoremTrial) -> Iterator[Check]:
    """Regret on two arms in [0, 1] with a gap of four times the bound over T: uniform play has twice it."""
    trial = trial.changed(n_arms=2, horizon=LONG, beta=None)
    gap = min(4 * minimax_regret_bound(np.zeros(2), trial.rule) / LONG, 1.0)
    where = bernoulli([0.5 + gap / 2, 0.5 - gap / 2], "two arms with a gap of 4 bound/T")
    return MeanBound([where])(trial)


# ---------------------------------------------------------------- lower bounds


def player(algorithm: Algorithm, horizon: int, runs: int, seed: int) -> Player:
    """Plays the algorithm on an instance with any number of arms."""

    def play(instance: Discrete) -> Simulation:
        played = with_parameters(algorithm, n_arms=instance.n_arms, horizon=horizon, beta=None)
        return simulate(played, instance, runs=runs, seed=seed, points=1)

    return play


@dataclass(frozen=True)
class LowerBound:
    """A lower bound on its hard instance: `judge(play, epsilon=, v=)` at a horizon."""

    judge: Function[Check]
    runs: Runs
    horizon: int = LONG

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One check."""
        play = player(trial.algorithm, self.horizon, trial.runs(self.runs), trial.seed)
        yield self.judge(play, epsilon=trial.rule.epsilon, v=trial.rule.v)


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
    return probability(
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


def _at_least(regret: FloatArray, bound: float, *, claim: str, **about: JsonValue) -> Check:
    """Check that mean regret is at least `bound`; vacuous where that is 0."""
    return mean_at_least(f"{claim} on its hard instance", regret, bound=bound, claim=claim, **about)


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


def regret_on(algorithm: Algorithm, instance: Discrete, *, runs: int, seed: int) -> FloatArray:
    """Regret by run of an algorithm of any range, in the instance's units, (runs,)."""
    where, scale = (instance, 1.0) if algorithm.bounds == LINE else in_unit_interval(instance)
    return np.asarray(scale * simulate(algorithm, where, runs=runs, seed=seed, points=1).regret)


def on_both(
    algorithm: Algorithm, theorem: int, gaps: Sequence[float], *, v: float, runs: int, seed: int
) -> FloatArray:
    """Sum of the regrets on an instance and where its last arm is changed, by run, (runs,)."""
    here, there = hard(theorem, v=v, gaps=gaps), hard(theorem, v=v, gaps=gaps, changed=len(gaps))
    own = regret_on(algorithm, here, runs=runs, seed=seed)
    return own + regret_on(algorithm, there, runs=runs, seed=seed + 1)


@dataclass(frozen=True)
class Floors:
    """A theorem's hard instances for every algorithm of a model, at the gap of the largest bound.

    Parameters
    ----------
    algorithms
        `algorithms(epsilon)` are those of the model.
    bound
        `bound(gap, epsilon)` on the sum of two regrets; half of it bounds one of the two.
    theorem
        Its number.
    n_arms, horizon
        K and T.
    epsilons
        Of the rows.
    caption
        Of the table; ``{runs}`` is filled in.
    """

    algorithms: Callable[[float], Sequence[Algorithm]]
    bound: Callable[[float, float], float]
    theorem: int
    n_arms: int
    horizon: int
    epsilons: Sequence[float]
    caption: str

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One table, at v = 1."""
        rows, runs = [], trial.runs(TABLE_RUNS)
        for epsilon in self.epsilons:
            gap = best_gap(lambda gap, epsilon=epsilon: self.bound(gap, epsilon))  # type: ignore[misc]
            for algorithm in self.algorithms(epsilon):
                gaps = [gap] * (self.n_arms - 1)
                rows.append(
                    floor_row(
                        on_both(algorithm, self.theorem, gaps, v=1.0, runs=runs, seed=trial.seed),
                        bound=self.bound(gap, epsilon),
                        algorithm=algorithm.name,
                        instance=f"Theorem {self.theorem}, gap {gap:.3g}",
                        epsilon=epsilon,
                        horizon=self.horizon,
                    )
                )
        yield floors(
            f"{trial.claim.name} on every algorithm in this trust model",
            rows,
            claim=trial.claim.name,
            caption=self.caption.format(runs=runs),
            measured="sum of two regrets",
        )


def _upper(regret: FloatArray) -> float:
    """Mean and six standard errors."""
    return float(regret.mean() + 6 * regret.std() / math.sqrt(len(regret)))


# ---------------------------------------------------------------- mutants

PRIVACY_MUTANTS = (
    HALF_NOISE,
    family.SHARED_BY_ARMS,
    family.NO_FORGETTING,
    family.RAW,
    mutant("sums with the noise of means", mutants.MEAN_NOISE),
)
NO_TRUNCATION = mutant("no truncation", mutants.Untruncated)


def regret_mutants(pulls: Pulls, survival: Survival) -> tuple[Mutant, Mutant]:
    """Mutants of the decisions, with the checks that catch them."""
    hasty = mutant("hasty", gap_times(1e-9), survival)
    return hasty, family.inverted(pulls)
