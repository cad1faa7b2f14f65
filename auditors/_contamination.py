"""Clean regret on contaminated rewards beside that of DP Robust SE: the instances, and who plays them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.algorithms.dp_robust_elimination import DPRobustElimination
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.core.algorithm import Algorithm, Data, Query
from verifiable_dp.core.environments import Drawn, Draws, Huber, Pareto, StudentT
from verifiable_dp.core.validate import FloatArray, IntArray, JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.rows import row as table_row
from verifiable_dp.evidence.regret.table import table
from verifiable_dp.registry.sheets import Sheet, fill
from verifiable_dp.registry.theorems import TABLE_RUNS, TheoremTrial
from verifiable_dp.registry.wrapped import Listed, original, with_parameters

# Inliers, ours: those of the paper are not known. Second moments within 1, about the mean in the last two.
RAW = StudentT((0.8, -0.8), 3.0, 0.3, "Student t")  # E X^2 = .91
RAW_PARETO = Pareto((0.85, 0.1), 3.0, "Pareto")  # E X^2 = .96
CENTRAL = StudentT((6.0, -6.0), 3.0, 0.5, "Student t, far means")  # variance .75
CENTRAL_PARETO = Pareto((1.7, 0.5), 3.0, "Pareto, mean 1.7")  # variance .96
RADIUS = 7.0

SHARES = (0.01, 0.05, 0.1)
KINDS = ("point", "symmetric", "adversarial")
FAR = "adversarial, far"
INSIDE = 0.9  # size of outliers, in units of a truncation
HORIZON, ORDER = 1 << 17, 2.0  # T and k of the table
# Of DP Robust SE: with the proof's it removes no arm before round 3e6 where means are far.
CONSTANTS: Mapping[str | float, str] = {
    "proof": "its proof's constants",
    0.1: "a tenth of its proof's constants, which no theorem covers",
}
_RIVAL_SEED = 0x5EED  # runs of the two algorithms are independent

SHEET = Sheet(__file__)
_PLAYED = SHEET.words("played")

# ---------------------------------------------------------------- rewards that are not looked at


@dataclass(frozen=True)
class ReleasedDraws(Draws):
    """Draws the rewards of a block only if it ends in a release; the answer is 0 else."""

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """See `algorithm.Data.answer`."""
        return super().answer(replace(query, rounds=np.where(query.complete, query.rounds, 0)), run)


@dataclass(frozen=True)
class Released:
    """The same rewards for algorithms that keep nothing between releases, at less cost."""

    inner: Drawn

    @property
    def name(self) -> str:
        """As of the rewards."""
        return self.inner.name

    @property
    def n_arms(self) -> int:
        """K."""
        return self.inner.n_arms

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the rewards."""
        return self.inner.bounds

    @property
    def gaps(self) -> FloatArray:
        """Suboptimality gaps Delta_a by arm, (K,)."""
        return self.inner.gaps

    def data(self, seed: int, path: tuple[int, ...] = ()) -> Data:
        """What answers queries."""
        return ReleasedDraws(self.inner, seed, path)


# ---------------------------------------------------------------- the table


@dataclass(frozen=True)
class Setting:
    """A clean instance, what the private and robust elimination assumes of it, and DP Robust SE's u.

    u is the second moment that clean rewards of the class have at most: 1, or 1 + D^2 for means within D.
    Neither the outliers nor the instance at hand enter it.
    """

    inlier: Drawn
    moments: str
    u: float


SETTINGS = (
    Setting(RAW, "raw", 1.0),
    Setting(RAW_PARETO, "raw", 1.0),
    Setting(CENTRAL, "central", 1 + RADIUS**2),
)


def contaminated(inlier: Drawn, alpha: float, kind: str, size: float) -> Huber:
    """Huber's model around `inlier`."""
    return Huber(inlier, alpha, kind, size, f"{inlier.name} with {kind} outliers")


def resolution(rule: DPRobustElimination) -> float | None:
    """Least 4 beta of the batches that end by T where no arm is removed; None without such a batch."""
    batch = np.arange(1, len(rule.beta))
    rounds = np.where(rule.forced[1:], 1, rule.n_arms) * 2.0**batch
    tells = (np.cumsum(rounds) <= rule.horizon) & ~rule.forced[1:] & np.isfinite(rule.beta[1:])
    return float(4 * rule.beta[1:][tells].min()) if tells.any() else None


def instances(
    setting: Setting, rule: DPRobustElimination, rival: DPRobustSE, alpha: float
) -> Iterator[tuple[str, float, Drawn]]:
    """Kind of outliers, their size, and the rewards.

    Sizes lie just within the final truncation of `rule`, after J is taken off, so that outliers do the most
    harm to it; ``far`` ones just within the first truncation of `rival`.
    """
    if alpha == 0:
        yield "none", 0.0, setting.inlier
        return
    shift = RADIUS if setting.moments == "central" else 0.0
    near = max(INSIDE * float(rule.limit[-1]) - shift, 1.0)
    far = INSIDE * rival.search_bounds[1]
    for kind in KINDS:
        yield kind, near, contaminated(setting.inlier, alpha, kind, near)
    yield FAR, far, contaminated(setting.inlier, alpha, "adversarial", far)


def tables(trial: TheoremTrial) -> list[Check]:
    """Clean regret and that of DP Robust SE, a table for each choice of the latter's constants."""
    algorithm = trial.changed(n_arms=2, failure=None).algorithm
    played: dict[tuple[Algorithm, Drawn], FloatArray] = {}

    def regret(player: Algorithm, environment: Drawn, own_seed: int) -> FloatArray:
        key = (player, environment)
        if key not in played:
            done = trial.simulate(player, Released(environment), TABLE_RUNS, seed=own_seed)
            played[key] = done.regret
        return played[key]

    def row(rule: Listed, rival: DPRobustSE, kind: str, size: float, environment: Drawn) -> JsonDict:
        return table_row(
            regret(rule, environment, trial.seed),
            regret(rival, environment, trial.seed + _RIVAL_SEED),
            instance=environment.inlier.name if isinstance(environment, Huber) else environment.name,
            kind=kind,
            contamination=original(rule).contamination,
            size=size,
            gap=float(environment.gaps.max()),
            equal=float(environment.gaps.mean()) * HORIZON,
            resolution=resolution(original(rule)),
            first=int(rival.schedule[0][1, rival.n_arms]) * rival.n_arms,
        )

    return [
        table(
            f"{trial.claim.name} against {DPRobustSE.name}, constants={constants}",
            [row(*entry) for entry in entries(algorithm, constants)],
            claim=trial.claim.name,
            caption=_caption(algorithm, trial.runs(TABLE_RUNS), words),
            algorithms=(algorithm.name, DPRobustSE.name),
            horizon=HORIZON,
            order=ORDER,
        )
        for constants, words in CONSTANTS.items()
    ]


def entries(
    algorithm: Listed, constants: str | float
) -> Iterator[tuple[Listed, DPRobustSE, str, float, Drawn]]:
    """Both algorithms, the kind and size of the outliers, and the rewards of each row."""
    common = {"n_arms": 2, "epsilon": algorithm.epsilon, "horizon": HORIZON}
    for setting in SETTINGS:
        rival = DPRobustSE(**common, v=ORDER - 1, u=setting.u, constants=constants)
        own = {**common, "k": ORDER, "moments": setting.moments, "radius": RADIUS, "failure": None}
        for alpha in (0.0, *SHARES):
            rule = with_parameters(algorithm, **own, contamination=alpha)
            for kind, size, environment in instances(setting, original(rule), rival, alpha):
                yield rule, rival, kind, size, environment


def _caption(algorithm: Listed, runs: int, words: str) -> str:
    """What was played, in words."""
    own: JsonDict = {"own": algorithm.name, "variant": algorithm.variant, "epsilon": algorithm.epsilon}
    rival = {"rival": DPRobustSE.name, "constants": words, "v": ORDER - 1, "u": 1 + RADIUS**2}
    fixed = {"horizon": HORIZON, "k": ORDER, "radius": RADIUS, "inside": INSIDE, "runs": runs}
    return fill(_PLAYED, {**own, **rival, **fixed})
