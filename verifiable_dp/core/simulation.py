"""Simulation in stochastic environments: regret, pulls and curves, the same for any number of workers."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from joblib import Parallel, delayed

from verifiable_dp.core import engine, frames, validate
from verifiable_dp.core.algorithm import Algorithm, Query, play
from verifiable_dp.core.environments import Environment, TwoPoint
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.plot import NEEDED, Plot
from verifiable_dp.core.validate import BoolArray, FloatArray, Function, InputError, IntArray

if TYPE_CHECKING:
    import pandas as pd

SHARD = 256  # runs that are simulated together; fixed, so that results do not depend on workers
_ARMS = 8  # that `print` shows
_NOISE, _REWARDS = 0, 1  # paths of the two streams of one seed


@dataclass(frozen=True, repr=False)
class Simulation:
    """What `simulate` returns.

    Attributes
    ----------
    regret : (runs,) float
        Pseudo-regret at the horizon: the sum of the gaps of the arms pulled.
    pulls : (runs, K) int
        How often each arm was pulled.
    times : (C,) int
        Rounds at which the regret was recorded.
    regrets : (runs, C) float
        Pseudo-regret after those rounds.
    active : (runs, K) bool or None
        Arms not eliminated at the end (elimination algorithms).
    output : (runs, d) float
        Numbers that the algorithm made public at the end (stopping rules: time, estimate).
    hindsight : (runs,) float or None
        With contexts: what the best policy in hindsight earned more than the run.
    """

    regret: FloatArray
    pulls: IntArray
    times: IntArray
    regrets: FloatArray
    active: BoolArray | None
    output: FloatArray
    hindsight: FloatArray | None = None

    def __repr__(self) -> str:
        """One line: how much was played, and the mean regret."""
        runs, arms = self.pulls.shape
        return (
            f"<Simulation: {runs} runs of {arms} arms, T = {self.times[-1]}, "
            f"mean regret {self.regret.mean():.4g}>"
        )

    def __str__(self) -> str:
        """At most ten lines: regret over the runs, and how often each arm was pulled."""
        low, middle, high = np.quantile(self.regret, [0.25, 0.5, 0.75])
        pulls = [
            f"arm {arm}: {mean:.6g}" for arm, mean in enumerate(self.pulls.mean(axis=0)[:_ARMS].tolist())
        ]
        more = [f"and {self.pulls.shape[1] - _ARMS} more"] if self.pulls.shape[1] > _ARMS else []
        lines = [
            repr(self)[1:-1],
            f"  regret: quartiles {low:.4g}, {middle:.4g}, {high:.4g}; largest {self.regret.max():.4g}",
            f"  mean pulls: {', '.join([*pulls, *more])}",
        ]
        if self.hindsight is not None:
            lines.append(f"  against the best policy in hindsight: mean {self.hindsight.mean():.4g}")
        return "\n".join(lines)

    def to_frame(self) -> pd.DataFrame:
        """One row a run: columns regret, and pulls of each arm (pulls_0, pulls_1, …)."""
        frames.needed()
        import pandas as pd

        pulls = {f"pulls_{arm}": column for arm, column in enumerate(self.pulls.T)}
        return pd.DataFrame({"regret": self.regret, **pulls})

    def plot(self) -> Plot:
        """Mean regret over time, with the middle half of the runs.

        Raises
        ------
        InputError
            Without matplotlib.
        """
        try:
            from matplotlib.backends.backend_svg import FigureCanvasSVG
            from matplotlib.figure import Figure
        except ImportError:
            raise InputError(NEEDED) from None
        curve, out = self._over_time(), io.StringIO()
        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.add_subplot(xlabel="round", ylabel="regret")
        axes.plot(curve["t"], curve["mean"], label="mean")
        axes.fill_between(curve["t"], curve["low"], curve["high"], alpha=0.3, label="middle half of the runs")
        axes.legend()
        write: Function[None] = FigureCanvasSVG(figure).print_svg
        write(out, metadata={"Date": None})
        return Plot(f"regret of {len(self.regret)} runs", out.getvalue())

    def curve(self) -> pd.DataFrame:
        """Mean regret over time: columns t, mean, std (over runs), low and high (quartiles).

        Raises
        ------
        InputError
            Without pandas.
        """
        frames.needed()
        import pandas as pd

        return pd.DataFrame(self._over_time())

    def _over_time(self) -> dict[str, FloatArray | IntArray]:
        low, high = np.quantile(self.regrets, [0.25, 0.75], axis=0)
        return {
            "t": self.times,
            "mean": self.regrets.mean(axis=0),
            "std": self.regrets.std(axis=0, ddof=1 if len(self.regrets) > 1 else 0),
            "low": low,
            "high": high,
        }


def checkpoints(horizon: int, points: int = 200) -> IntArray:
    """At most `points` log-spaced rounds from 1 to the horizon; a single one is the horizon."""
    if points == 1:
        return np.array([horizon])
    return np.unique(np.geomspace(1, horizon, points).round().astype(np.int64))


@dataclass
class _Curve:
    """Adds up regret at the checkpoints, block by block."""

    gaps: FloatArray
    times: IntArray
    regrets: FloatArray = field(repr=False)

    def block(self, position: IntArray, query: Query) -> None:
        elapsed = np.clip(self.times - query.start[:, None], 0, query.rounds[:, None])
        if query.counts is not None:
            ends = np.cumsum(query.counts, axis=1)
            for arm, gap in enumerate(self.gaps.tolist()):
                begin = ends[:, arm] - query.counts[:, arm]
                pulled = np.clip(elapsed - begin[:, None], 0, query.counts[:, arm : arm + 1])
                self.regrets[position] += gap * pulled
            return
        size = query.active.sum(axis=1)
        sweeps, rest = np.divmod(elapsed, size[:, None])
        gaps = query.active * self.gaps
        whole = gaps.sum(axis=1)[:, None] * sweeps
        for arm, rank in enumerate(np.cumsum(query.active, axis=1).T):
            whole += gaps[:, arm : arm + 1] * (rest >= rank[:, None])
        self.regrets[position] += whole


def _check(algorithm: Algorithm, environment: Environment) -> None:
    if environment.n_arms != algorithm.n_arms:
        raise InputError(
            f"environment must have {algorithm.n_arms} arms (n_arms), like the algorithm, "
            f"got {environment.n_arms}"
        )
    low, high = algorithm.bounds
    least, most = environment.bounds
    if least < low or most > high:
        raise InputError(
            f"environment: rewards must lie within the algorithm's bounds [{low:g}, {high:g}], "
            f"got [{least:g}, {most:g}]"
        )
    longest = algorithm.most_simulated
    if longest is not None and algorithm.horizon > longest:
        raise InputError(
            f"horizon must be at most {longest} to simulate {algorithm.name}, which plays round by round, "
            f"got {algorithm.horizon}; most other algorithms are played in blocks and have no limit"
        )


def _fits(algorithm: Algorithm, environment: Environment) -> bool:
    """Whether a kernel can play this: those for bounded rewards draw one of two values."""
    return isinstance(environment, TwoPoint) or algorithm.bounds[1] == np.inf


def _shard(
    algorithm: Algorithm, environment: Environment, seed: int, run: IntArray, times: IntArray, number: int
) -> tuple[IntArray, FloatArray, FloatArray, BoolArray | None]:
    if hasattr(algorithm, "kernel") and _fits(algorithm, environment):
        pulls, at, output = algorithm.kernel(environment, seed, run, times)
        return pulls, at @ environment.gaps, output, None
    curve = _Curve(environment.gaps, times, np.zeros((len(run), len(times)))) if len(times) > 1 else None
    noise, data = Seeded(seed, (_NOISE,)), environment.data(seed, (_REWARDS, number))
    outcome = play(algorithm, data, noise, run, keep=(), watch=curve)
    regrets = curve.regrets if curve else (outcome.pulls @ environment.gaps)[:, None]
    return outcome.pulls, regrets, outcome.output, getattr(outcome.final, "active", None)


def simulate(
    algorithm: Algorithm,
    environment: Environment,
    *,
    runs: int = 30,
    seed: int = 0,
    workers: int = 1,
    points: int = 200,
) -> Simulation:
    """Play independent runs of an algorithm in a stochastic environment.

    Parameters
    ----------
    algorithm
        From `make`, or your own.
    environment
        With as many arms as the algorithm.
    runs
        Number of independent runs.
    seed
        Whole number; the same seed gives the same result, whatever `workers` is.
    workers
        Number of threads or processes (joblib's `n_jobs`).
    points
        Number of rounds at which the curve is recorded; 1 records the horizon alone, which is cheapest.

    Returns
    -------
    Simulation
        Regret in units of reward.

    Raises
    ------
    InputError
        If an argument is out of range, or the environment does not fit the algorithm.
    """
    runs = validate.integer("runs", runs, least=1)
    seed = validate.integer("seed", seed, least=0)
    workers = validate.integer("workers", workers, least=1)
    _check(algorithm, environment)
    times = checkpoints(algorithm.horizon, validate.integer("points", points, least=1))
    compiled = hasattr(algorithm, "kernel") and _fits(algorithm, environment)
    size = max(1, -(-runs // (4 * workers))) if compiled else SHARD
    shards = [np.arange(i, min(i + size, runs), dtype=np.int64) for i in range(0, runs, size)]
    tasks = [delayed(_shard)(algorithm, environment, seed, run, times, i) for i, run in enumerate(shards)]
    if compiled:  # it lets go of the interpreter's lock
        parts = Parallel(n_jobs=min(workers, len(shards)), prefer="threads")(tasks)
    else:
        parts = engine.ordered(engine.called, tasks, workers=workers)
    pulls, regrets, output, active = zip(*parts, strict=True)
    return Simulation(
        regret=np.concatenate(pulls) @ environment.gaps,
        pulls=np.concatenate(pulls),
        times=times,
        regrets=np.concatenate(regrets),
        active=None if active[0] is None else np.concatenate(active),
        output=np.concatenate(output),
    )
