"""Our own study of Wu et al., whose experiments are not known: clean regret against alpha, epsilon and k."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_robust_elimination import DPRobustElimination
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.auditors._contamination import (
    FAR,
    INSIDE,
    KINDS,
    RADIUS,
    RAW,
    SETTINGS,
    Released,
    Setting,
    contaminated,
    instances,
)
from verifiable_dp.auditors.dp_robust_elimination import regret_bound
from verifiable_dp.auditors.studies import compare, fewer, over
from verifiable_dp.auditors.studies._rates import Rate
from verifiable_dp.core.algorithm import Data
from verifiable_dp.core.claims import Source
from verifiable_dp.core.environments import Discrete, Drawn, Pareto, TwoPoint
from verifiable_dp.core.validate import FloatArray, JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.mean_at_least import mean_at_least
from verifiable_dp.registry.study import Cell, Figure, Line, Panel, Statement, Study, StudyOutcome, StudyPlan
from verifiable_dp.registry.theorems import bound_of, mean_bound
from verifiable_dp.registry.wrapped import Listed

HORIZON, RUNS = 1 << 18, 200
SHARES = (0.0, 0.003, 0.01, 0.02, 0.03, 0.05, 0.1)
TIMED = 0.05  # alpha of the curves over time, where kinds differ most
PRIVATE = 0.01  # alpha of the figure over epsilon
PLACES: Mapping[str, Setting] = {"raw": SETTINGS[0], "central": SETTINGS[2]}
OVER_EPSILON = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.5, 10.0, 30.0)
NO_LESS = 0.9  # "does not fall": by a tenth at most; equal means would never be told from less
# Moments of all orders up to 6 are within 1: 4 (.7875)^6 = .95.
LIGHT = Pareto((0.9, 0.1), 8.0, "Pareto of shape 8")
OVER_K = (2.0, 3.0, 4.0, 6.0)
K_SHARES = (0.0, 0.003, 0.01, 0.03)
OWN, RIVAL = "elimination", "dprse"
ADVERSARIAL = "adversarial"

Outcomes = Mapping[str, StudyOutcome]


def _source(statement: str, note: str = "") -> Source:
    return Source(papers.WU, statement, note)


def _rule(
    horizon: int, *, epsilon: float = 1.0, alpha: float = 0.0, k: float = 2.0, moments: str = "raw"
) -> DPRobustElimination:
    """Two arms; the algorithm is told alpha and the moments."""
    return DPRobustElimination(
        2, epsilon, horizon, k, alpha, moments, RADIUS if moments == "central" else 1.0
    )


def _rival(horizon: int, *, epsilon: float = 1.0, u: float = 1.0) -> DPRobustSE:
    """DP Robust SE with its proof's constants, for second moments; it knows nothing of outliers."""
    return DPRobustSE(2, epsilon, horizon, 1.0, u)


# ---------------------------------------------------------------- cells


def by_share(moments: str, kind: str, alpha: float, algorithm: str) -> str:
    """Name of a cell of the figures over alpha; clean rewards have the kind ``none``."""
    return f"{moments} alpha={alpha:g} {kind if alpha else 'none'} {algorithm}"


def _share_cells(horizon: int, runs: int) -> dict[str, Cell]:
    cells = {}
    for (moments, place), alpha in itertools.product(PLACES.items(), SHARES):
        rule = _rule(horizon, alpha=alpha, moments=moments)
        rival = _rival(horizon, u=place.u)
        for kind, _, environment in instances(place, rule, rival, alpha):
            shown = Released(environment)
            cells[by_share(moments, kind, alpha, OWN)] = Cell(rule, shown, runs)
            cells[by_share(moments, kind, alpha, RIVAL)] = Cell(rival, shown, runs)
    return cells


def by_epsilon(epsilon: float, alpha: float, algorithm: str) -> str:
    """Name of a cell of the figure over epsilon."""
    return f"raw epsilon={epsilon:.3g} alpha={alpha:g} {algorithm}"


def _epsilon_cells(horizon: int, runs: int) -> dict[str, Cell]:
    cells = {}
    for epsilon, alpha in itertools.product(OVER_EPSILON, (0.0, PRIVATE)):
        rule, rival = _rule(horizon, epsilon=epsilon, alpha=alpha), _rival(horizon, epsilon=epsilon)
        place = _adversarial(RAW, rule, alpha)
        cells[by_epsilon(epsilon, alpha, OWN)] = Cell(rule, place, runs, points=2)
        cells[by_epsilon(epsilon, alpha, RIVAL)] = Cell(rival, place, runs, points=2)
    return cells


def by_order(k: float, alpha: float) -> str:
    """Name of a cell of the figure over k."""
    return f"light k={k:g} alpha={alpha:g} {OWN}"


def _order_cells(horizon: int, runs: int) -> dict[str, Cell]:
    cells = {}
    for k, alpha in itertools.product(OVER_K, K_SHARES):
        rule = _rule(horizon, k=k, alpha=alpha)
        cells[by_order(k, alpha)] = Cell(rule, _adversarial(LIGHT, rule, alpha), runs, points=2)
    return cells


def _adversarial(inlier: Drawn, rule: DPRobustElimination, alpha: float) -> Released:
    """Outliers just within the final truncation of `rule`, for raw moments."""
    if alpha == 0:
        return Released(inlier)
    return Released(contaminated(inlier, alpha, ADVERSARIAL, max(INSIDE * float(rule.limit[-1]), 1.0)))


# ---------------------------------------------------------------- figures


def _share_figures(horizon: int, runs: int) -> list[Figure]:
    panels, timed = [], []
    for moments in PLACES:
        lines = [
            over(f"elimination, {kind}", {a: by_share(moments, kind, a, OWN) for a in SHARES})
            for kind in KINDS
        ]
        lines.append(
            over(f"DPRSE, {ADVERSARIAL}", {a: by_share(moments, ADVERSARIAL, a, RIVAL) for a in SHARES})
        )
        lines.append(over(f"DPRSE, {FAR}", {a: by_share(moments, FAR, a, RIVAL) for a in SHARES}))
        panels.append(Panel(f"{moments} moments", tuple(lines), axis="share alpha", logx=False))
        kinds = [("clean", by_share(moments, "", 0.0, OWN))]
        kinds += [(kind, by_share(moments, kind, TIMED, OWN)) for kind in (*KINDS, FAR)]
        kinds.append((f"DPRSE, {FAR}", by_share(moments, FAR, TIMED, RIVAL)))
        timed.append(Panel(f"{moments} moments", tuple(Line(label, (name,)) for label, name in kinds)))
    common = (
        f"Two arms with Student-t rewards, k = 2, epsilon = 1, T = {horizon}, {runs} runs; ours. Outliers "
        "lie "
        "just within the final truncation of the elimination, far ones just within the first one of DPRSE."
    )
    return [
        Figure(
            "over-alpha",
            f"Clean regret over the share of outliers. {common} Past some alpha the gap is not told apart, "
            "and "
            "both arms are played to the end.",
            tuple(panels),
            ("alpha-costs", "theorem-6.2", "theorem-6.10", "theorem-6.12", "dprse-is-turned"),
        ),
        Figure(
            "over-time",
            f"Clean regret over time by kind of outliers, alpha = {TIMED:g}. {common}",
            tuple(timed),
            ("far-outliers", "clean-beside-dprse"),
        ),
    ]


def _parameter_figures(horizon: int, runs: int) -> list[Figure]:
    lines = []
    for alpha, words in ((0.0, "clean"), (PRIVATE, f"alpha = {PRIVATE:g}")):
        for algorithm, label in ((OWN, "elimination"), (RIVAL, "DPRSE")):
            names = {epsilon: by_epsilon(epsilon, alpha, algorithm) for epsilon in OVER_EPSILON}
            lines.append(over(f"{label}, {words}", names))
    orders = [over(f"alpha = {alpha:g}", {k: by_order(k, alpha) for k in OVER_K}) for alpha in K_SHARES]
    return [
        Figure(
            "over-epsilon",
            f"Clean regret over epsilon: two arms with Student-t rewards, raw moments, k = 2, T = {horizon}, "
            f"{runs} runs; adversarial outliers.",
            (Panel("raw moments", tuple(lines), axis="epsilon"),),
            ("epsilon-helps", "epsilon-helps-beyond-1"),
        ),
        Figure(
            "over-k",
            f"Clean regret over the order k of the moment that the algorithm is told, on the same rewards: "
            f"Pareto of shape 8, means .9 and .1, raw moments, epsilon = 1, T = {horizon}, {runs} runs; "
            "adversarial outliers.",
            (Panel("raw moments", tuple(orders), axis="order k", logx=False),),
            ("k-helps",),
        ),
    ]


# ---------------------------------------------------------------- statements


def _bounds(cells: Mapping[str, Cell], names: Sequence[str], outcomes: Outcomes) -> list[Check]:
    """Mean regret against the bound that the proof gives for the gaps at hand."""
    checks = []
    for name in names:
        rule: Listed = cells[name].algorithm
        place = cells[name].environment
        about = {"instance": place.name, "contamination": rule.contamination}
        bound = bound_of(regret_bound, rule, place.gaps)
        values = outcomes[name].regret
        checks.append(mean_bound(name, values, place, rule.horizon, bound, most=1 << 40, **about))
    return checks


def _rising(outcomes: Outcomes, steps: Sequence[tuple[str, str, str]]) -> list[Check]:
    """(name, cell with less regret, cell with more)."""
    return [compare(name, outcomes, [less], [more], NO_LESS) for name, less, more in steps]


def _alpha_costs(outcomes: Outcomes) -> list[Check]:
    steps = [
        (
            f"{moments}, adversarial: alpha={high:g} against {low:g}",
            by_share(moments, ADVERSARIAL, low, OWN),
            by_share(moments, ADVERSARIAL, high, OWN),
        )
        for moments in PLACES
        for low, high in itertools.pairwise(SHARES)
    ]
    return _rising(outcomes, steps)


def _epsilon_helps(epsilons: Sequence[float], outcomes: Outcomes) -> list[Check]:
    steps = [
        (
            f"alpha={alpha:g}: epsilon={low:.3g} against {high:.3g}",
            by_epsilon(high, alpha, OWN),
            by_epsilon(low, alpha, OWN),
        )
        for alpha in (0.0, PRIVATE)
        for low, high in itertools.pairwise(epsilons)
    ]
    return _rising(outcomes, steps)


def _k_helps(outcomes: Outcomes) -> list[Check]:
    steps = [
        (f"alpha={alpha:g}: k={low:g} against {high:g}", by_order(high, alpha), by_order(low, alpha))
        for alpha in K_SHARES
        for low, high in itertools.pairwise(OVER_K)
    ]
    return _rising(outcomes, steps)


def _far_outliers(outcomes: Outcomes) -> list[Check]:
    steps = [
        (
            f"{moments}, alpha={alpha:g}: within the truncation against far",
            by_share(moments, FAR, alpha, OWN),
            by_share(moments, ADVERSARIAL, alpha, OWN),
        )
        for moments in PLACES
        for alpha in SHARES[1:]
    ]
    return _rising(outcomes, steps)


def _clean(outcomes: Outcomes) -> list[Check]:
    steps = [
        (moments, by_share(moments, "", 0.0, OWN), by_share(moments, "", 0.0, RIVAL)) for moments in PLACES
    ]
    return _rising(outcomes, steps)


def _turned(outcomes: Outcomes) -> list[Check]:
    """The largest shares; raw moments, where DPRSE acts within the horizon."""
    return [
        compare(
            f"raw, alpha={alpha:g}, {FAR}",
            outcomes,
            [by_share("raw", FAR, alpha, OWN)],
            [by_share("raw", FAR, alpha, RIVAL)],
            1.25,
        )
        for alpha in SHARES[-2:]
    ]


def _bounded(cells: Mapping[str, Cell]) -> list[Statement]:
    def bounded(name: str, words: str, theorem: str, names: Sequence[str]) -> Statement:
        note = "printed as a rate for the worst gaps; checked is what the proof gives for the gaps at hand"
        return Statement(
            name, words, _source(theorem, note), lambda outcomes: _bounds(cells, names, outcomes)
        )

    shares = SHARES[1:]
    pulls = "sum_a Delta_a sum_(tau <= tau_a) 2^tau + max Delta, tau_a the first batch with 4 beta < Delta_a"
    return [
        bounded(
            "theorem-6.2",
            f"Raw moments, any share of outliers: mean clean regret is at most {pulls}.",
            "Theorem 6.2",
            [
                by_share("raw", "", 0.0, OWN),
                *(by_share("raw", kind, a, OWN) for a in shares for kind in (*KINDS, FAR)),
            ],
        ),
        bounded(
            "theorem-6.10",
            "Central moments without outliers: the same bound, with the beta of Corollary 6.6.",
            "Theorem 6.10",
            [by_share("central", "", 0.0, OWN)],
        ),
        bounded(
            "theorem-6.12",
            "Central moments with outliers: the same bound, with the beta of Corollary 6.8.",
            "Theorem 6.12",
            [by_share("central", kind, a, OWN) for a in shares for kind in (*KINDS, FAR)],
        ),
    ]


def _statements(cells: Mapping[str, Cell]) -> list[Statement]:
    ours = "ours; the paper's experiments are not known"
    return [
        *_bounded(cells),
        Statement(
            "alpha-costs",
            "Clean regret does not fall with the share of outliers.",
            _source("Theorems 6.2 and 6.12", f"{ours}; by a tenth at most"),
            _alpha_costs,
        ),
        Statement(
            "epsilon-helps",
            "Clean regret does not grow with epsilon up to 1, with and without outliers.",
            _source("Theorem 6.2", f"{ours}; by a tenth at most"),
            lambda outcomes: _epsilon_helps([e for e in OVER_EPSILON if e <= 1], outcomes),
        ),
        Statement(
            "epsilon-helps-beyond-1",
            "The same for epsilon from 1 to 30.",
            _source(
                "Theorem 6.2",
                "ours; it fails past epsilon = 4.5 at k = 2: M = (n epsilon/log(1/delta))^(1/k) grows with "
                "epsilon, and with it the range term 2Ml/(3n) of beta, which the rate leaves out",
            ),
            lambda outcomes: _epsilon_helps([e for e in OVER_EPSILON if e >= 1], outcomes),
            expected="contradicted",
        ),
        Statement(
            "k-helps",
            "Clean regret does not grow with the order k of the moment that is known to be bounded.",
            _source("Theorem 6.2", f"{ours}; by a tenth at most"),
            _k_helps,
        ),
        Statement(
            "far-outliers",
            "Outliers beyond the truncation do no more harm than those just within it.",
            _source("Theorem 6.1", f"{ours}; by a tenth at most"),
            _far_outliers,
        ),
        Statement(
            "clean-beside-dprse",
            "Without outliers the regret is at most that of DPRSE with its proof's constants.",
            _source("Section 6", f"{ours}; u of DPRSE is the second moment of its class, 1 or 1 + D^2"),
            _clean,
        ),
        Statement(
            "dprse-is-turned",
            "A share of 5 % of outliers within DPRSE's truncation makes it keep the worse arm: its clean "
            "regret "
            "is at least 1.25 times that of the private and robust elimination.",
            _source("Section 6", ours),
            _turned,
        ),
    ]


# ---------------------------------------------------------------- rates

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


def _masked_cells(runs: int) -> dict[str, Cell]:
    cells = {}
    for alpha, k, best in itertools.product(MASKED, ORDERS, (0, 1)):
        place = masked(alpha, k, best)
        rule = _rule(MASKED_HORIZON, alpha=alpha, k=k)
        cells[by_mask(alpha, k, best, OWN)] = Cell(rule, place, runs, points=2)
        if k == 2:
            cells[by_mask(alpha, k, best, RIVAL)] = Cell(_rival(MASKED_HORIZON), place, runs, points=2)
    return cells


def _indistinguishable(outcomes: Outcomes) -> list[Check]:
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


def _floor_cells(runs: int) -> dict[str, Cell]:
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


def _floor_statements() -> list[Statement]:
    note = "the constants of the instances are derived, K = 5; reconstructed"
    return [
        Statement(
            "theorem-4.1-privacy",
            "Every epsilon-DP algorithm pays (K/epsilon)^(1 - 1/k) T^(1/k) on some instance: at least "
            "T D/(8 e), D = ((K - 1)/(12 epsilon T))^(1 - 1/k), where the worst arm is changed.",
            _source("Theorem 4.1", f"its private term, epsilon = {SCARCE:g}, T = 2^40; {note}"),
            lambda outcomes: _floors("privacy", outcomes),
        ),
        Statement(
            "theorem-4.1-sampling",
            "Every algorithm pays sqrt(K T): on one instance and where an arm is changed at least "
            "e^(-1/2) T D/4 together, D = ((K - 1)/(4 T))^(1/2).",
            _source("Theorem 4.1", f"its first term, epsilon = 1, T = 2^30; {note}"),
            lambda outcomes: _floors("sampling", outcomes),
        ),
    ]


FORM = "batches of 2^tau up to the first 4 beta < gap, beta as in the proof of Theorem 6.1 with numbers"


def _closed(made: Cell) -> float:
    """The batches in a cell."""
    rule: Listed = made.algorithm
    about = (rule.horizon, rule.epsilon, rule.k, rule.contamination, rule.radius if rule.central else None)
    return closed_forms.dp_robust_elimination(made.environment.gaps, *about)


def _law(
    name: str,
    words: str,
    axis: str,
    cells: Mapping[float, Mapping[str, Cell]],
    exponent: float,
    margin: float,
    region: str,
    where: str = "Theorem 6.2",
    log_power: float = 0.0,
) -> Rate:
    source = _source(where, f"region: {region}")
    return Rate(name, words, axis, cells, exponent, margin, region, source, _closed, FORM, log_power)


def _lead(k: float, batch: int, arms: int = 2) -> float:
    """Beta of a batch at `LAW_HORIZON`, from its closed form."""
    failure = closed_forms.robust_failure(arms, LAW_HORIZON)
    return closed_forms.robust_deviation(2.0**batch, k, FAINT, 0.0, failure)


def _gap_law(k: float, runs: int) -> Rate:
    gaps = [LEAD * _lead(k, batch) for batch in BATCHES]
    return _law(
        f"gap-k={k:g}",
        f"k = {k:g}: where privacy dominates, regret grows like Delta^({-1 / (k - 1):.3g}).",
        "gap",
        {gap: {f"law gap k={k:g} {gap:.4g}": Cell(_faint(k), _two(gap), runs, points=2)} for gap in gaps},
        -1 / (k - 1),
        0.05,
        f"two arms with rewards -1 and 1, epsilon = {FAINT:g}, T = 2^52, alpha = 0; gaps of {LEAD:g} beta at "
        "the ends of batches",
    )


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
    return _law(
        f"T-k={k:g}",
        f"k = {k:g}: where privacy dominates, the worst-case regret grows like T^{1 / k:.3g} "
        f"(log T)^{1 - 1 / k:.3g}.",
        "horizon T",
        cells,
        1 / k,
        0.03,
        f"two arms with rewards -1 and 1, epsilon = {FAINT:g}, alpha = 0; the worst of a gap of 1 and of 2 "
        "to 512 units of (log(1/delta)/(T epsilon))^(1 - 1/k)",
        log_power=1 - 1 / k,
    )


def _epsilon_law(k: float, runs: int) -> Rate:
    gap = LEAD * _lead(k, BATCHES[0])
    cells = {}
    for halving in HALVINGS:
        epsilon = FAINT / 2**halving
        rule = _faint(k, epsilon=epsilon)
        cells[epsilon] = {f"law epsilon k={k:g} {halving}": Cell(rule, _two(gap), runs, points=2)}
    return _law(
        f"epsilon-k={k:g}",
        f"k = {k:g}: where privacy dominates, regret at a given gap is proportional to 1/epsilon.",
        "epsilon",
        cells,
        -1.0,
        0.03,
        f"two arms with rewards -1 and 1, gap {gap:.3g}, T = 2^52, epsilon = {FAINT:g}/2^j, so that batches "
        "end at the same place",
    )


def _arms_law(runs: int) -> Rate:
    gap = 2.3 * _lead(2.0, BATCHES[2], ARMS[-1])
    return _law(
        "K",
        "At a given gap regret is proportional to the number of suboptimal arms, K - 1.",
        "K - 1",
        {
            float(arms - 1): {f"law K {arms}": Cell(_faint(2.0, arms=arms), _two(gap, arms), runs, points=2)}
            for arms in ARMS
        },
        1.0,
        0.1,
        f"rewards -1 and 1, gaps of {gap:.3g}, k = 2, epsilon = {FAINT:g}, T = 2^52; log K beside log T does "
        "not move the batch",
    )


def _share_law(k: float, runs: int) -> Rate:
    """The worst gap of a grid: below the least that can be told apart, regret grows with it."""
    gaps = _grid(LEAST_SHARE_GAP[k], 2 ** (1 - 1 / k))
    cells = {
        alpha: {
            f"law alpha k={k:g} {alpha:.3g} gap {gap:.4g}": Cell(
                _rule(SHARE_HORIZON, alpha=alpha, k=k), _two(gap), runs, points=2
            )
            for gap in gaps
        }
        for alpha in OVER_ALPHA
    }
    return _law(
        f"alpha-k={k:g}",
        f"k = {k:g}: at a given horizon the worst-case regret grows like alpha^{1 - 1 / k:.3g}.",
        "share alpha",
        cells,
        1 - 1 / k,
        0.05,
        f"two arms with rewards -1 and 1, none of which is contaminated, T = 2^46, epsilon = 1; the worst of "
        f"{len(gaps)} gaps from 1 down to {gaps[-1]:.2g}",
        "Theorems 4.1 and 6.2",
    )


def _share_pulls_law(runs: int) -> Rate:
    """Gaps of a few times what beta comes to; beta is a multiple of alpha^(1/2) after as many pulls."""
    cells = {}
    for j, alpha in enumerate(OVER_ALPHA):  # a fourth of alpha is two batches
        failure = closed_forms.robust_failure(2, SHARE_HORIZON)
        gap = LEAD * closed_forms.robust_deviation(2.0 ** (15 + 2 * j), 2.0, 1.0, alpha, failure)
        rule = _rule(SHARE_HORIZON, alpha=alpha)
        cells[alpha] = {f"law alpha pulls {alpha:.3g}": Cell(rule, _two(gap), runs, points=2)}
    return _law(
        "alpha-pulls",
        "K log T/alpha: gaps in proportion to alpha^(1/2) are told apart after pulls in proportion to "
        "1/alpha, so that regret grows like alpha^(-1/2).",
        "share alpha",
        cells,
        -0.5,
        0.05,
        f"k = 2, two arms with rewards -1 and 1, none of which is contaminated, T = 2^46, epsilon = 1; gaps "
        f"of {LEAD:g} beta at the end of the batch of 2^15 pulls for alpha = .002, of 2^17 for a fourth of "
        "it, and so on",
    )


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
    return _law(
        "D",
        "K D log(DT)/epsilon: where means lie as far apart as D allows, regret is proportional to D.",
        "radius D",
        cells,
        1.0,
        0.05,
        f"central moments, k = 2, two arms with means .9 D and -.9 D and rewards 1 above or below, epsilon = "
        f"{FAINT:g}, T = 2^52; log D beside log T does not move the batch",
        "Theorem 6.10",
    )


def laws(runs: int) -> list[Rate]:
    """All rates."""
    found = [maker(k, runs) for maker in (_horizon_law, _gap_law, _epsilon_law) for k in ORDERS]
    shares = [*(_share_law(k, runs) for k in ORDERS), _share_pulls_law(runs)]
    return [*found, _arms_law(runs), _radius_law(runs), *shares]


def _law_figures(found: Sequence[Rate], lower: Sequence[str]) -> list[Figure]:
    """A figure for each parameter; the lower bound stands under that of alpha."""
    figures = []
    for parameter in ("T", "gap", "epsilon", "K", "D", "alpha"):
        own = [about for about in found if about.name.split("-")[0] == parameter]
        names = [f"rate-{about.name}" for about in own]
        if parameter == "alpha":
            names += lower
        caption = f"Regret over {own[0].axis}, all else being fixed, with the slope that is claimed."
        figures.append(
            Figure(
                f"rates-{parameter}",
                caption,
                tuple(about.panel(about.name, "elimination") for about in own),
                tuple(names),
            )
        )
    return figures


# ---------------------------------------------------------------- the study


def plan(scale: float) -> StudyPlan:
    """Figures at T = 2^18 and 200 runs, and the rates; or less."""
    horizon, runs = max(int(HORIZON * scale), 4096), fewer(RUNS, scale)
    law_runs = fewer(LAW_RUNS, scale, 8)
    found = laws(law_runs)
    cells = {
        **_share_cells(horizon, runs),
        **_epsilon_cells(horizon, runs),
        **_order_cells(horizon, runs),
        **_masked_cells(law_runs),
        **_floor_cells(law_runs),
    }
    for about in found:
        cells |= about.plan
    lower = Statement(
        "theorem-4.1",
        "Where contamination makes two instances the same, the mean regret over both is at least T Delta/4, "
        "Delta = (alpha/(1 - alpha))^(1 - 1/k), for the elimination and for DPRSE.",
        _source("Theorem 4.1", "its term T alpha^(1-1/k), with the constant of the instance; reconstructed"),
        _indistinguishable,
    )
    lowest = [lower, *_floor_statements()]
    figures = [
        *_share_figures(horizon, runs),
        *_parameter_figures(horizon, runs),
        *_law_figures(found, [statement.name for statement in lowest]),
    ]
    rates = [statement for about in found for statement in about.statements()]
    return StudyPlan(cells, figures, [*_statements(cells), *lowest, *rates], NOTES)


NOTES = (
    "The paper's experiments are not known: instances, T, runs, epsilon, alpha and k are all ours.",
    "Inliers: Student t with 3 degrees of freedom, means .8 and -.8 (raw, second moment .91) or 6 and -6 "
    "(central, "
    "variance .75, D = 7); Pareto of shape 8 with means .9 and .1 where k varies.",
    "The elimination is told alpha, k and the moments; constants are those of the corrected variant, "
    "which hold "
    "for every n. DPRSE has its proof's constants, v = 1, and u = 1 or 1 + D^2 = 50.",
    "Rates are fitted on rewards -1 and 1 at epsilon = 1e-5, where privacy and not sampling decides how "
    "long arms "
    "stay; sampling alone gives sqrt(T) for every k.",
)
STUDY = Study("S3", "Private and robust elimination on contaminated rewards", papers.WU, plan)
