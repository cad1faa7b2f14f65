"""Rates and lower bounds of the study S3."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_robust_elimination import DPRobustElimination
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.auditors._contamination import RADIUS
from verifiable_dp.auditors.studies import Outcomes
from verifiable_dp.auditors.studies._rates import Rate
from verifiable_dp.core.algorithm import Data
from verifiable_dp.core.environments import Discrete, TwoPoint
from verifiable_dp.core.validate import FloatArray, Json, JsonDict, JsonValue
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.mean_at_least import mean_at_least
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.study import Cell, Figure, Statement
from verifiable_dp.registry.wrapped import Listed

SHEET = Sheet(__file__, papers.WU)
OWN, RIVAL = "elimination", "dprse"

# Rewards -1 and 1: moments of all orders are 1, and a batch is one draw an arm, whatever its length.
LAW_RUNS = 60
ORDERS = (2.0, 3.0, 4.0)
LAW_HORIZON, FAINT = 1 << 52, 1e-5  # at this epsilon privacy and not sampling decides how long arms stay
BATCHES = tuple(range(30, 47, 2))
HALVINGS = tuple(range(9))
ARMS = (2, 3, 5, 9, 17, 33)
OVER_T = tuple(1 << power for power in range(33, 49, 2))
OVER_ALPHA = tuple(0.002 * 4.0**-j for j in range(7))
LEAST_SHARE_GAP = {2.0: 1e-3, 3.0: 1e-4, 4.0: 3e-5}
SHARE_HORIZON = 1 << 46
OVER_RADIUS = tuple(8.0 * 2.0**j for j in range(6))
LEAD = 2.5  # gap in units of beta: the batch tells the arms apart, the one before cannot


def elimination(
    horizon: int, *, epsilon: float = 1.0, alpha: float = 0.0, k: float = 2.0, moments: str = "raw"
) -> DPRobustElimination:
    """Two arms; the algorithm is told alpha and the moments."""
    return DPRobustElimination(
        2, epsilon, horizon, k, alpha, moments, RADIUS if moments == "central" else 1.0
    )


def unaware(horizon: int, *, epsilon: float = 1.0, u: float = 1.0) -> DPRobustSE:
    """DP Robust SE with its proof's constants, for second moments; it knows nothing of outliers."""
    return DPRobustSE(2, epsilon, horizon, 1.0, u)


def _two(gap: float, arms: int = 2) -> TwoPoint:
    means = (gap / 2, *(-gap / 2,) * (arms - 1))
    return TwoPoint(means, -1.0, 1.0, f"{arms} arms, +-1, gaps of {gap:.3g}")


def _faint(
    k: float, *, horizon: int = LAW_HORIZON, epsilon: float = FAINT, arms: int = 2
) -> DPRobustElimination:
    return DPRobustElimination(arms, epsilon, horizon, k)


@dataclass(frozen=True)
class Masked:
    """An environment whose rewards are those of `seen` and whose regret is that of clean `means`."""

    seen: Discrete
    means: tuple[float, ...]
    name: str

    @property
    def n_arms(self) -> int:
        """K."""
        return self.seen.n_arms

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the rewards."""
        return self.seen.bounds

    @property
    def gaps(self) -> FloatArray:
        """Suboptimality gaps of the clean means, (K,)."""
        means = np.array(self.means)
        return np.asarray(means.max() - means)

    def data(self, seed: int, path: tuple[int, ...] = ()) -> Data:
        """What answers queries."""
        return self.seen.data(seed, path)


def masked(alpha: float, k: float, best: int) -> Masked:
    """Two arms that contamination makes the same: one pays h with probability p, the other 0 always.

    p = alpha/(1 - alpha) and h = p^(-1/k), so that E|X|^k = 1 and the gap is p^(1 - 1/k). A share alpha of
    the better arm's rewards becomes 0, of the other one's h: both then pay h with probability alpha.
    """
    p = alpha / (1 - alpha)
    size = p ** (-1 / k)
    seen = Discrete(((0.0, size),) * 2, ((1 - alpha, alpha),) * 2)
    means = [0.0, 0.0]
    means[best] = p * size
    return Masked(seen, tuple(means), f"indistinguishable, alpha={alpha:g}, k={k:g}, arm {best} is better")


MASKED = tuple(float(x) for x in np.geomspace(0.001, 0.1, 7))
MASKED_HORIZON = 1 << 30


def by_mask(alpha: float, k: float, best: int, algorithm: str) -> str:
    """Name of a cell of the lower bound."""
    return f"masked alpha={alpha:.3g} k={k:g} best={best} {algorithm}"


def masked_cells(runs: int) -> dict[str, Cell]:
    cells = {}
    for alpha, k, best in itertools.product(MASKED, ORDERS, (0, 1)):
        place = masked(alpha, k, best)
        rule = elimination(MASKED_HORIZON, alpha=alpha, k=k)
        cells[by_mask(alpha, k, best, OWN)] = Cell(rule, place, runs, points=2)
        if k == 2:
            cells[by_mask(alpha, k, best, RIVAL)] = Cell(unaware(MASKED_HORIZON), place, runs, points=2)
    return cells


def on_masked(outcomes: Outcomes) -> list[Check]:
    """The regrets on the two instances of a pair add up to T Delta: half of their mean is asked for."""
    checks = []
    for alpha, k, algorithm in itertools.product(MASKED, ORDERS, (OWN, RIVAL)):
        if algorithm == RIVAL and k != 2:
            continue
        both = [outcomes[by_mask(alpha, k, best, algorithm)].regret for best in (0, 1)]
        least = MASKED_HORIZON * float(masked(alpha, k, 0).gaps.max()) / 2
        checks.append(
            mean_at_least(
                f"{algorithm}, alpha={alpha:.3g}, k={k:g}: mean of a pair",
                np.concatenate(both),
                bound=least / 2,
                horizon=MASKED_HORIZON,
            )
        )
    return checks


# The other terms of Theorem 4.1, with five arms. Arm 0 is the best one, or an arm a that is changed: whoever
# pulls arm a too seldom to notice pays there.
FLOOR_ARMS = 5
FLOOR_HORIZON = {"privacy": 1 << 40, "sampling": 1 << 30}
SCARCE = 1e-9  # epsilon where privacy and not sampling decides


def scarce(k: float, changed: int) -> Discrete:
    """Rewards p^(-1/k) with probability p/2 on arm 0 and p on arm `changed` (0: none), and 0 else.

    p = (K - 1)/(12 epsilon T). Then E|X|^k <= 1, the gap is at least p^(1 - 1/k)/2, and the laws of an arm
    differ by p in total variation.
    """
    p = (FLOOR_ARMS - 1) / (12 * SCARCE * FLOOR_HORIZON["privacy"])
    shares = [p / 2] + [0.0] * (FLOOR_ARMS - 1)
    if changed:
        shares[changed] = p
    chances = tuple((1 - share, share) for share in shares)
    return Discrete(((0.0, p ** (-1 / k)),) * FLOOR_ARMS, chances, f"scarce, k={k:g}, arm {changed} changed")


def near(changed: int) -> TwoPoint:
    """Rewards -1 and 1 with mean D on arm 0 and 2 D on arm `changed` (0: none), D = ((K - 1)/(4 T))^(1/2)."""
    gap = math.sqrt((FLOOR_ARMS - 1) / (4 * FLOOR_HORIZON["sampling"]))
    means = [gap] + [0.0] * (FLOOR_ARMS - 1)
    if changed:
        means[changed] = 2 * gap
    return TwoPoint(tuple(means), -1.0, 1.0, f"near, arm {changed} changed")


def privacy_floor(k: float) -> float:
    """T D/4 (1 - 2/(K - 1)) e^(-12 epsilon p T/(K - 1)), D = p^(1 - 1/k): of the worst changed arm's regret.

    Some arm a is pulled at most n = 2T/(K - 1) times with probability 1/2. Its n rewards are all that tells
    the instances apart, so that it is so where it is changed with probability e^(-6 epsilon n p)/2 at least
    (Karwa & Vadhan 2018, Lemma 6.1); then regret is at least (T - n) D/2.
    """
    horizon, k_other = FLOOR_HORIZON["privacy"], FLOOR_ARMS - 1
    p = k_other / (12 * SCARCE * horizon)
    size = float(p ** (1 - 1 / k))
    return horizon * size / 4 * (1 - 2 / k_other) * math.exp(-12 * SCARCE * p * horizon / k_other)


def sampling_floor() -> float:
    """T D/4 e^(-T KL/(K - 1)): of the regret on `near(0)` and where the least pulled arm is changed, added.

    By the inequality of Bretagnolle and Huber; KL = -log(1 - 4 D^2)/2 of rewards -1 and 1.
    """
    horizon, gap = FLOOR_HORIZON["sampling"], float(near(0).means[0])
    divergence = -math.log1p(-4 * gap**2) / 2
    return horizon * gap / 4 * math.exp(-divergence * horizon / (FLOOR_ARMS - 1))


def _floor_rules(term: str, k: float) -> JsonDict:
    """Who plays the instances of a term, by name."""
    epsilon, horizon = SCARCE if term == "privacy" else 1.0, FLOOR_HORIZON[term]
    rules: JsonDict = {OWN: DPRobustElimination(FLOOR_ARMS, epsilon, horizon, k)}
    if k == 2:
        rules[RIVAL] = DPRobustSE(FLOOR_ARMS, epsilon, horizon, 1.0, 1.0)
    return rules


def by_floor(term: str, k: float, changed: int, algorithm: str) -> str:
    """Name of a cell of a lower bound."""
    return f"floor {term} k={k:g} changed={changed} {algorithm}"


def floor_cells(runs: int) -> dict[str, Cell]:
    cells = {}
    for k, changed in itertools.product(ORDERS, range(FLOOR_ARMS)):
        for term, place in (("privacy", scarce(k, changed)), ("sampling", near(changed))):
            for name, rule in _floor_rules(term, k).items():
                if changed or term == "sampling":
                    cells[by_floor(term, k, changed, name)] = Cell(rule, place, runs, points=2)
    return cells


def _floors(term: str, outcomes: Outcomes) -> list[Check]:
    """Regret where the worst arm is changed; for sampling, with that where none is."""
    checks = []
    for k in ORDERS:
        for name in _floor_rules(term, k):
            regrets = [outcomes[by_floor(term, k, a, name)].regret for a in range(1, FLOOR_ARMS)]
            worst = max(regrets, key=lambda values: float(values.mean()))
            if term == "sampling":
                worst = worst + outcomes[by_floor(term, k, 0, name)].regret
            bound = privacy_floor(k) if term == "privacy" else sampling_floor()
            about = {"bound": bound, "horizon": FLOOR_HORIZON[term]}
            checks.append(mean_at_least(f"{name}, k={k:g}", worst, **about))
    return checks


def floor_statements() -> list[Statement]:
    about = {"theorem-4.1-privacy": {"epsilon": SCARCE}, "theorem-4.1-sampling": {}}
    return [
        SHEET.statement(name, partial(_floors, name.rpartition("-")[2]), **values)
        for name, values in about.items()
    ]


def _closed(made: Cell) -> float:
    """The batches in a cell."""
    rule: Listed = made.algorithm
    about = (rule.horizon, rule.epsilon, rule.k, rule.contamination, rule.radius if rule.central else None)
    return closed_forms.dp_robust_elimination(made.gaps, *about)


def _lead(k: float, batch: int, arms: int = 2) -> float:
    """Beta of a batch at `LAW_HORIZON`, from its closed form."""
    failure = closed_forms.robust_failure(arms, LAW_HORIZON)
    return closed_forms.robust_deviation(2.0**batch, k, FAINT, 0.0, failure)


def _law(
    name: str, cells: Mapping[float, Mapping[str, Cell]], computed: Json | None = None, **values: JsonValue
) -> Rate:
    return Rate.of(SHEET, name, cells, (_closed, SHEET.words("form")), computed, **values)


def _gap_law(k: float, runs: int) -> Rate:
    gaps = [LEAD * _lead(k, batch) for batch in BATCHES]
    cells = {gap: {f"law gap k={k:g} {gap:.4g}": Cell(_faint(k), _two(gap), runs, points=2)} for gap in gaps}
    power = -1 / (k - 1)
    return _law("gap-k={k:g}", cells, {"exponent": power}, k=k, power=power, epsilon=FAINT, lead=LEAD)


def _grid(least: float, step: float) -> list[float]:
    """Gaps from 1 down to `least`, each the one before over `step`."""
    return [step**-j for j in range(1 + math.ceil(math.log(1 / least, step)))]


def _around(unit: float) -> list[float]:
    """The gap 1, and gaps from 2 to 512 units."""
    return [1.0, *(gap for j in range(2, 19) if (gap := unit * 2.0 ** (j / 2)) < 1)]


def _horizon_law(k: float, runs: int) -> Rate:
    """T grows by 4, as batches double; gaps in units of the claimed (log(1/delta)/(T epsilon))^(1 - 1/k)."""
    gaps = {
        t: _around((math.log(1 / closed_forms.robust_failure(2, t)) / (t * FAINT)) ** (1 - 1 / k))
        for t in OVER_T
    }
    cells = {
        float(t): {
            f"law T k={k:g} {t} gap {gap:.4g}": Cell(_faint(k, horizon=t), _two(gap), runs, points=2)
            for gap in gaps[t]
        }
        for t in OVER_T
    }
    computed = {"exponent": 1 / k, "log_power": 1 - 1 / k}
    return _law("T-k={k:g}", cells, computed, k=k, power=1 / k, rest=1 - 1 / k, epsilon=FAINT)


def _epsilon_law(k: float, runs: int) -> Rate:
    gap = LEAD * _lead(k, BATCHES[0])
    cells = {}
    for halving in HALVINGS:
        epsilon = FAINT / 2**halving
        rule = _faint(k, epsilon=epsilon)
        cells[epsilon] = {f"law epsilon k={k:g} {halving}": Cell(rule, _two(gap), runs, points=2)}
    return _law("epsilon-k={k:g}", cells, k=k, gap=gap, epsilon=FAINT)


def _arms_law(runs: int) -> Rate:
    gap = 2.3 * _lead(2.0, BATCHES[2], ARMS[-1])
    cells = {
        float(arms - 1): {f"law K {arms}": Cell(_faint(2.0, arms=arms), _two(gap, arms), runs, points=2)}
        for arms in ARMS
    }
    return _law("K", cells, gap=gap, epsilon=FAINT)


def _share_law(k: float, runs: int) -> Rate:
    """The worst gap of a grid: below the least that can be told apart, regret grows with it."""
    gaps = _grid(LEAST_SHARE_GAP[k], 2 ** (1 - 1 / k))
    cells = {
        alpha: {
            f"law alpha k={k:g} {alpha:.3g} gap {gap:.4g}": Cell(
                elimination(SHARE_HORIZON, alpha=alpha, k=k), _two(gap), runs, points=2
            )
            for gap in gaps
        }
        for alpha in OVER_ALPHA
    }
    computed = {"exponent": 1 - 1 / k}
    return _law("alpha-k={k:g}", cells, computed, k=k, power=1 - 1 / k, gaps=len(gaps), least=gaps[-1])


def _share_pulls_law(runs: int) -> Rate:
    """Gaps of a few times what beta comes to; beta is a multiple of alpha^(1/2) after as many pulls."""
    cells = {}
    for j, alpha in enumerate(OVER_ALPHA):  # a fourth of alpha is two batches
        failure = closed_forms.robust_failure(2, SHARE_HORIZON)
        gap = LEAD * closed_forms.robust_deviation(2.0 ** (15 + 2 * j), 2.0, 1.0, alpha, failure)
        rule = elimination(SHARE_HORIZON, alpha=alpha)
        cells[alpha] = {f"law alpha pulls {alpha:.3g}": Cell(rule, _two(gap), runs, points=2)}
    return _law("alpha-pulls", cells, lead=LEAD)


def _apart(radius: float) -> Discrete:
    """Two arms at nine tenths of the radius on either side, with rewards 1 above and 1 below their means."""
    means = (0.9 * radius, -0.9 * radius)
    rewards = tuple((mean - 1, mean + 1) for mean in means)
    return Discrete(rewards, ((0.5, 0.5),) * 2, f"two arms, means +-1, {means[0]:g} and {means[1]:g}")


def _radius_law(runs: int) -> Rate:
    """The histogram decides when arms are told apart, at the same batch for every D."""
    cells = {}
    for radius in OVER_RADIUS:
        rule = DPRobustElimination(2, FAINT, LAW_HORIZON, 2.0, 0.0, "central", radius)
        cells[radius] = {f"law D {radius:g}": Cell(rule, _apart(radius), runs, points=2)}
    return _law("D", cells, epsilon=FAINT)


def laws(runs: int) -> list[Rate]:
    """All rates."""
    found = [maker(k, runs) for maker in (_horizon_law, _gap_law, _epsilon_law) for k in ORDERS]
    shares = [*(_share_law(k, runs) for k in ORDERS), _share_pulls_law(runs)]
    return [*found, _arms_law(runs), _radius_law(runs), *shares]


def law_figures(found: Sequence[Rate], lower: Sequence[str]) -> list[Figure]:
    """A figure for each parameter; the lower bound stands under that of alpha."""
    figures = []
    for parameter in ("T", "gap", "epsilon", "K", "D", "alpha"):
        own = [about for about in found if about.name.split("-")[0] == parameter]
        names = [f"rate-{about.name}" for about in own]
        if parameter == "alpha":
            names += lower
        panels = [about.panel(about.name, "elimination") for about in own]
        figures.append(
            SHEET.figure("rates-{parameter}", panels, names, parameter=parameter, axis=own[0].axis)
        )
    return figures
