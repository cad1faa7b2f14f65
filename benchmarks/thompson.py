"""What Thompson sampling from normal posteriors tells of one reward, against T.

`python -m benchmarks.thompson` in the repository's root computes `benchmarks/thompson.json` and draws the
figure of `docs/thompson-sampling.md`, whose tables a test compares with it. Ten minutes on one core;
`--draw` only draws.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verifiable_dp.algorithms.adac_ucb import AdaCUCB
from verifiable_dp.algorithms.gaussian_ts import GaussianTS
from verifiable_dp.auditors import _sampling as sampling
from verifiable_dp.core import files
from verifiable_dp.core.algorithm import Algorithm, play
from verifiable_dp.core.claims import gdp_epsilon, gdp_mu
from verifiable_dp.core.environments import bernoulli
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.simulation import simulate
from verifiable_dp.render import plots, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOT = Path(__file__).parents[1]
RECORD, FIGURE = ROOT / "benchmarks" / "thompson.json", ROOT / "docs" / "images" / "thompson-sampling.svg"
DELTA, SEED, RUNS = 1e-6, 0, 200
HORIZONS = (10, 30, 100, 300, 1000, 3000, 10_000)
BOUNDED = HORIZONS[:5]
# Constant rewards of two arms; one reward of the first one is changed, at its pull of that number.
TABLES = {
    "0/1": ((0.0, 1.0), 1),
    ".25/.75": ((0.25, 0.75), 1),
    "0/.5": ((0.0, 0.5), 1),
    ".75/.25": ((0.75, 0.25), 1),
    "0/1, pull 10": ((0.0, 1.0), 10),
}
WORLD = bernoulli([0.25, 0.75])
Row = dict[str, Any]


def all_draws(horizon: int) -> Row:
    """Of all draws: the worst case, proved."""
    mu = sampling.worst_mu(2, horizon)
    return {"mu": mu, "epsilon": gdp_epsilon(mu, DELTA)}


def on_typical_runs() -> dict[str, list[float]]:
    """Median mu of all draws in runs on Bernoulli arms, by horizon, for the first reward of either arm.

    Measured: what a run cost is no promise, since another run may cost more.
    """
    run = np.arange(RUNS)
    done = play(
        GaussianTS(2, HORIZONS[-1]), WORLD.pulled(SEED, RUNS, (1,)), Seeded(SEED), run, keep=("actions",)
    )
    arms = np.log2(done.actions).astype(np.int64)
    pulls = np.stack([np.cumsum(arms == arm, axis=1) for arm in (0, 1)], axis=1)[:, :, 1:]
    return {
        name: [float(np.median(sampling.composed_mu(pulls[:, arm, : t - 2]))) for t in HORIZONS]
        for arm, name in enumerate(("worse arm", "better arm"))
    }


def actions(name: str) -> list[float]:
    """The epsilon of the actions, at least, by horizon."""
    rewards, changed = TABLES[name]
    found = sampling.TwoArms(rewards, changed).losses(HORIZONS)
    return [found[t].epsilon(DELTA) for t in HORIZONS]


def options(horizon: int = HORIZONS[-1]) -> list[Row]:
    """Regret of what promises mu = 1 for all draws, and of plain Thompson sampling."""
    found = []
    for first in (1, 100, 300, 1000, 3333):
        rule = GaussianTS(2, horizon, (horizon - 2 * first) / (first + 1), first)
        found.append(_regret(rule, f"c = {rule.variance:.3g}, b = {first}", rule.mu))
    plain = GaussianTS(2, horizon)
    rival = AdaCUCB(2, 0.5, horizon)
    return [
        _regret(plain, "c = 1, b = 1", plain.mu),
        *found,
        _regret(rival, "AdaC-UCB", rival.mechanism.mu),
    ]


def _regret(rule: Algorithm, name: str, mu: float) -> Row:
    values = simulate(rule, WORLD, runs=RUNS, seed=SEED, points=1).regret
    return {
        "name": name,
        "mu": mu,
        "regret": float(values.mean()),
        "error": float(values.std() / np.sqrt(RUNS)),
    }


def measure() -> Row:
    """The record."""
    return {
        "delta": DELTA,
        "seed": SEED,
        "runs": RUNS,
        "horizons": HORIZONS,
        "all draws": [all_draws(t) for t in HORIZONS],
        "typical runs": on_typical_runs(),
        "actions at least": {name: actions(name) for name in TABLES},
        "options": options(),
        "actions at most": [sampling.AnyRewards(width=0.1).epsilon(t, DELTA) for t in BOUNDED],
    }


# ---------------------------------------------------------------- the page


def tables(record: Row) -> tuple[str, str]:
    """The tables of the page."""
    horizons = [f"T = {t:,}" for t in record["horizons"]]
    typical, least = record["typical runs"], record["actions at least"]
    most = [f"{x:.1f}" for x in record["actions at most"]]
    rows = [
        ["mu of all draws, any rewards (proved, attained)", *(f"{x['mu']:.1f}" for x in record["all draws"])],
        ["mu of all draws in the median run, worse arm", *(f"{x:.1f}" for x in typical["worse arm"])],
        ["mu of all draws in the median run, better arm", *(f"{x:.1f}" for x in typical["better arm"])],
        ["epsilon of all draws, any rewards", *(f"{x['epsilon']:,.0f}" for x in record["all draws"])],
        ["epsilon of actions, any rewards (upper bound)", *most, *["–"] * (len(horizons) - len(most))],
        *(
            [f"epsilon of actions, {name} (lower bound)", *(f"{x:.1f}" for x in least[name])]
            for name in least
        ),
    ]
    kept = [
        [f"`{row['name']}`", f"{row['mu']:.3g}", f"{row['regret']:,.0f} ± {row['error']:.1g}"]
        for row in record["options"]
    ]
    return _table(["at delta = 1e-6", *horizons], rows), _table(["", "mu", "regret at T = 10,000"], kept)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def figure(record: Row) -> str:
    """Epsilon against T, as the mu that gives it at delta."""
    horizons, most = record["horizons"], record["actions at most"]

    def draw(axes: Axes) -> None:
        worst, median = [x["mu"] for x in record["all draws"]], record["typical runs"]["worse arm"]
        axes.plot(horizons, worst, color=plots.BAD, label="all draws, worst case")
        axes.plot(horizons, median, "--", color=plots.BAD, label="all draws, median run")
        axes.plot(horizons[: len(most)], _mus(most), color=plots.GOOD, label="actions, at most")
        least = np.max([record["actions at least"][name] for name in TABLES], axis=0)
        axes.plot(horizons, _mus(least.tolist()), "--", color=plots.GOOD, label="actions, at least")
        axes.set(xscale="log", yscale="log", xlabel="T", ylabel="mu at delta = 1e-6")
        plots.legend(axes, 2)

    return svg.alone(plots.single("thompson", 2.8, draw), white=True)


def _mus(epsilons: list[float]) -> list[float]:
    return [gdp_mu(epsilon, DELTA) for epsilon in epsilons]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", action="store_true")
    if not parser.parse_args().draw:
        RECORD.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
    known = json.loads(RECORD.read_text("utf-8"))
    files.write_text(FIGURE, figure(known))
    print("\n\n".join(tables(known)))
