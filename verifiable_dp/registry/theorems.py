"""Checks that an auditor lists with a claim, as data; and the trial that they are given.

A check is a function of a `Trial` that yields instances of `Check`. The classes here say where a claim is
measured and take the bound from the claim. A check of any other kind is a plain function of the trial.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from verifiable_dp.core.algorithm import Algorithm
from verifiable_dp.core.claims import RegretClaim
from verifiable_dp.core.environments import Environment
from verifiable_dp.core.simulation import Simulation, simulate
from verifiable_dp.core.validate import FloatArray, Given, Json, JsonValue, Numbers
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.common import least_horizon
from verifiable_dp.evidence.regret.comparison import comparison
from verifiable_dp.evidence.regret.mean_bound import mean_bound as mean_bound_check
from verifiable_dp.evidence.regret.price import prices
from verifiable_dp.evidence.regret.probability import probability as probability_check
from verifiable_dp.evidence.regret.rows import row as table_row
from verifiable_dp.evidence.regret.scaling import scaling
from verifiable_dp.registry.wrapped import Listed, original, with_parameters

RUNS = {"mutant": 30, "quick": 30, "standard": 100, "thorough": 300}  # of a mean
TRIALS = {"mutant": 200, "quick": 300, "standard": 1000, "thorough": 3000}  # of a probability
TABLE_RUNS = {"quick": 12, "standard": 50, "thorough": 150}  # of a mean in a table
_OTHER_SEED = 0x5EED  # runs of two algorithms are independent

Runs = int | Mapping[str, int]  # or by budget
Parameters = Json


@dataclass(frozen=True)
class TheoremTrial:
    """One claim, and what it is tested on.

    Parameters
    ----------
    kind
        The class that the claim is about.
    claim
        What is claimed.
    algorithm
        What is played: the algorithm, or a mutant of it.
    budget
        ``quick``, ``standard`` or ``thorough``; ``mutant`` for a mutant.
    seed, workers
        Of the simulations; results are the same for any number of workers.
    """

    kind: type[Algorithm]
    claim: RegretClaim
    algorithm: Listed
    budget: str
    seed: int
    workers: int = 1

    @property
    def mutant(self) -> bool:
        """Whether a mutant is played: expensive checks that catch no mutant are skipped."""
        return self.budget == "mutant"

    @functools.cached_property
    def rule(self) -> Listed:
        """The correct algorithm with the parameters of what is played."""
        return self.kind(**original(self.algorithm).parameters)

    def changed(self, **parameters: Given) -> TheoremTrial:
        """With other parameters of the algorithm."""
        return replace(self, algorithm=with_parameters(self.algorithm, **parameters))

    def runs(self, runs: Runs) -> int:
        """Number of runs at the trial's budget."""
        return runs if isinstance(runs, int) else runs[self.budget]

    def play(self, environment: Environment, runs: Runs = RUNS, **options: int) -> Simulation:
        """Simulate what is played."""
        return self.simulate(self.algorithm, environment, runs, **options)

    def simulate(
        self, algorithm: Algorithm, environment: Environment, runs: Runs = RUNS, **options: int
    ) -> Simulation:
        """Simulate another algorithm with the trial's budget and seed."""
        asked = {"seed": self.seed, "workers": self.workers, "points": 1, **options}
        return simulate(algorithm, environment, runs=self.runs(runs), **asked)

    def bound(self, gaps: FloatArray) -> Callable[[float], Numbers]:
        """The claim's bound as a function of the horizon; see `bound_of`."""
        assert self.claim.bound is not None, f"{self.claim.name} has a bound"
        return bound_of(self.claim.bound, self.rule, gaps)

    def mean_bound(
        self,
        environment: Environment,
        values: FloatArray,
        bound: Callable[[float], float],
        most: int = 1 << 62,
        **about: JsonValue,
    ) -> Check:
        """Check of regret by run against `bound(horizon)`; see the function of this name."""
        about = {
            "claim": self.claim.name,
            "instance": environment.name,
            "horizon": self.rule.horizon,
            **about,
        }
        name = f"{self.claim.name} on {environment.name}"
        return mean_bound(name, values, environment, self.rule.horizon, bound, most=most, **about)

    def probability(self, name: str, failed: npt.ArrayLike, probability: float, **about: JsonValue) -> Check:
        """Check of the share of runs that `failed`; `name` is added to the claim's."""
        return probability_check(
            f"{self.claim.name} {name}", failed, probability=probability, claim=self.claim.name, **about
        )


def mean_bound(
    name: str,
    values: FloatArray,
    environment: Environment,
    rounds: int,
    bound: Callable[[int], float],
    *,
    most: int = 1 << 62,
    **about: JsonValue,
) -> Check:
    """Check of regret by run after so many rounds against `bound(rounds)`; no run exceeds T max Delta."""
    worst = float(environment.gaps.max())
    return mean_bound_check(
        name,
        values,
        bound=bound(rounds),
        largest=worst * rounds,
        least_horizon=least_horizon(bound, lambda t: worst * t, most=most),
        **about,
    )


def bound_of(
    bound: Callable[[FloatArray, Listed], Numbers], rule: Algorithm, gaps: FloatArray
) -> Callable[[float], Numbers]:
    """A bound `bound(gaps, rule)` as a function of the horizon, at which the rule is made anew."""
    return lambda horizon: bound(gaps, at_horizon(rule, horizon))


def at_horizon(rule: Algorithm, horizon: float) -> Listed:
    """The algorithm at another horizon; parameters that are None by default follow it."""
    if horizon == rule.horizon:
        return rule
    free = {f.name: None for f in dataclasses.fields(original(rule)) if f.default is None}
    least = max(rule.n_arms, getattr(rule, "least_horizon", 1))
    return with_parameters(rule, **{**free, "horizon": max(int(horizon), least)})


Checking = Callable[[TheoremTrial], Iterable[Check]]
Environments = Sequence[Environment] | Callable[[TheoremTrial], Sequence[Environment]]


def _listed(environments: Environments, trial: TheoremTrial) -> Sequence[Environment]:
    return environments(trial) if callable(environments) else environments


@dataclass(frozen=True)
class CorrectOnly:
    """A check that is skipped for mutants: it is expensive and catches none."""

    check: Checking

    def __call__(self, trial: TheoremTrial) -> Iterable[Check]:
        """Nothing for a mutant."""
        return () if trial.mutant else self.check(trial)


@dataclass(frozen=True)
class MeanBound:
    """Mean regret against the claim's bound, on each environment."""

    environments: Environments
    changes: Parameters = field(default_factory=dict)
    runs: Runs = field(default_factory=lambda: RUNS)

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One check for each environment."""
        trial = trial.changed(**self.changes)
        for environment in _listed(self.environments, trial):
            values = trial.play(environment, self.runs).regret
            yield trial.mean_bound(environment, values, trial.bound(environment.gaps))


@dataclass(frozen=True)
class Growth:
    """Regret grows like (log T)^log_power in each range (environment, least T, largest T)."""

    ranges: Sequence[tuple[Environment, float, float]]
    log_power: float
    margin: float = 0.03
    number: int = 16

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One check for each range."""
        for environment, low, high in self.ranges:
            points = []
            for t in [int(t) for t in np.geomspace(low, high, self.number)]:
                played = at_horizon(trial.algorithm, t)
                points.append((t, trial.simulate(played, environment).regret))
            yield scaling(
                f"{trial.claim.name} rate on {environment.name}",
                points,
                log_power=float(self.log_power),
                margin=self.margin,
                claim=trial.claim.name,
                instance=environment.name,
            )


@dataclass(frozen=True)
class Exponent:
    """Regret grows like a power of a quantity.

    Parameters
    ----------
    over
        Short name of the quantity, for the name of the check.
    quantity, instance
        In words.
    points
        Values of the quantity, each with an environment and the parameters to play it with.
    exponent, margin
        The power that is claimed, and how far the fitted one may lie from it.
    runs
        At each value.
    """

    over: str
    quantity: str
    instance: str
    points: Sequence[tuple[float, Environment, Parameters]]
    exponent: float = 1.0
    margin: float = 0.1
    runs: Runs = field(default_factory=lambda: RUNS)

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One check."""
        played = [trial.changed(**changes) for _, _, changes in self.points]
        yield scaling(
            f"{trial.claim.name} exponent over {self.over}",
            [
                (x, each.play(where, self.runs).regret)
                for each, (x, where, _) in zip(played, self.points, strict=True)
            ],
            exponent=self.exponent,
            log_power=0.0,
            margin=self.margin,
            claim=trial.claim.name,
            instance=self.instance,
            over=self.quantity,
            horizon=played[0].rule.horizon,
        )


@dataclass(frozen=True)
class Better:
    """Mean regret is at most that of a rival over a factor, on each environment."""

    rival: Callable[[Listed], Algorithm]
    words: str
    factor: float
    environments: Environments
    runs: Runs = field(default_factory=lambda: RUNS)

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One check for each environment."""
        for environment in _listed(self.environments, trial):
            mine = trial.play(environment).regret
            theirs = trial.simulate(self.rival(trial.rule), environment, self.runs).regret
            yield comparison(
                f"{trial.claim.name} on {environment.name}",
                mine,
                theirs,
                factor=self.factor,
                claim=trial.claim.name,
                instance=environment.name,
                horizon=trial.rule.horizon,
                epsilon=trial.rule.epsilon,
                rival=self.words,
            )


@dataclass(frozen=True)
class Pulls:
    """With probability 1 - beta no suboptimal arm is pulled more often than the claim's bound for its gap."""

    environment: Environment
    changes: Parameters
    source: str = ""

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One check."""
        trial, where = trial.changed(**self.changes), self.environment
        bad = where.gaps > 0
        most = np.asarray(trial.bound(where.gaps[bad])(trial.rule.horizon))
        done = trial.play(where, TRIALS)
        yield trial.probability(
            f"pulls on {where.name}",
            (done.pulls[:, bad] > most).any(axis=1),
            trial.rule.beta,
            vacuous=bool((most >= trial.rule.horizon).all()),
            least_horizon=math.floor(most.min()) + 1,
            bound=[float(m) for m in most],
            instance=where.name,
            horizon=trial.rule.horizon,
            source=self.source or trial.claim.source.statement,
        )


@dataclass(frozen=True)
class Survival:
    """With probability 1 - beta the best arm is never removed; an elimination's most delicate promise."""

    environment: Environment
    changes: Parameters
    source: str = ""
    runs: Runs = field(default_factory=lambda: TRIALS)

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One check."""
        where = self.environment
        trial = trial.changed(**{**self.changes, "n_arms": where.n_arms})
        done = trial.play(where, self.runs)
        best = int(np.argmin(where.gaps))
        if done.active is not None:
            lost = ~done.active[:, best]
        else:  # a compiled loop keeps no set; the survivors are those that were pulled most
            lost = done.pulls[:, best] + 1 < done.pulls.max(axis=1)
        yield trial.probability(
            f"survival on {where.name}",
            lost,
            trial.rule.beta,
            instance=where.name,
            horizon=trial.rule.horizon,
            source=self.source or trial.claim.source.statement,
        )


@dataclass(frozen=True)
class Prices:
    """The price of privacy: a table of regret over that of an algorithm without privacy.

    Parameters
    ----------
    free
        `free(rule)` is that algorithm.
    environments
        Where both play.
    epsilons
        Of the private one.
    caption
        Of the table; ``{rule}`` and ``{runs}`` are filled in.
    changes
        Parameters that differ from those of the experiment.
    """

    free: Callable[[Listed], Algorithm]
    environments: Environments
    epsilons: Sequence[float]
    caption: str
    changes: Parameters = field(default_factory=dict)

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One table; what is played in several rows is played once."""
        trial = trial.changed(**self.changes)
        free, rows = self.free(trial.rule), []
        for environment in _listed(self.environments, trial):
            other = trial.simulate(free, environment, TABLE_RUNS, seed=trial.seed + _OTHER_SEED).regret
            for epsilon in self.epsilons:
                private = trial.changed(epsilon=epsilon)
                rows.append(
                    table_row(
                        private.play(environment, TABLE_RUNS).regret,
                        other,
                        instance=environment.name,
                        private=trial.rule.name,
                        free=free.name,
                        epsilon=float(epsilon),
                        horizon=int(trial.rule.horizon),
                    )
                )
        yield prices(
            f"{trial.claim.name}: price of privacy",
            rows,
            claim=trial.claim.name,
            caption=self.caption.format(rule=trial.rule, runs=trial.runs(TABLE_RUNS)),
        )
