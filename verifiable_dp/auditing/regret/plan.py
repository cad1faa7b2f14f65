"""What is run for claims: cells, each of independent runs of one algorithm on one instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from verifiable_dp.auditing import rates
from verifiable_dp.auditing.rates import Rate
from verifiable_dp.auditing.regret.claims import Claims
from verifiable_dp.auditing.regret.instances import called
from verifiable_dp.auditing.regret.subject import RegretSubject
from verifiable_dp.core import engine
from verifiable_dp.core.environments import Environment, TwoPoint
from verifiable_dp.core.populations import Population
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.study import cell_seed
from verifiable_dp.targets import players
from verifiable_dp.targets.players import PlayerPart, Setting

SHARD = 8  # runs of a user's code that one task plays; results do not depend on it


@dataclass(frozen=True)
class Cells:
    """Runs that are asked for, by name."""

    seed: int
    workers: int
    asked: dict[str, list[PlayerPart]] = field(default_factory=dict)

    def ask(
        self,
        name: str,
        subject: RegretSubject,
        setting: Setting,
        environment: Environment | Population,
        runs: int,
    ) -> None:
        """Independent runs under a name of their own."""
        seed = cell_seed(name, self.seed)
        size = runs if players.whole(subject.player, setting) else SHARD
        self.asked[name] = [
            PlayerPart(subject.player, setting, environment, seed, first, min(first + size, runs))
            for first in range(0, runs, size)
        ]

    def run(self) -> dict[str, FloatArray]:
        """Regrets of all that was asked for, (runs,) by name; nothing is asked for afterwards."""
        keys = [(name, i) for name, parts in self.asked.items() for i in range(len(parts))]
        parts = [self.asked[name][i] for name, i in keys]
        found = {
            keys[number]: values for number, values in engine.run(players.regret, parts, workers=self.workers)
        }
        joined = {
            name: np.concatenate([found[name, i] for i in range(len(parts))])
            for name, parts in self.asked.items()
        }
        self.asked.clear()
        return joined


def ask_instances(cells: Cells, subject: RegretSubject, claims: Claims) -> None:
    """The runs of the algorithm, and of its rival, that a bound and a comparison are held against."""
    for instance in claims.instances:
        if claims.bound is not None or claims.rival is not None:
            cells.ask(f"instance/{called(instance)}", subject, subject.setting, instance, claims.runs)
        if claims.rival is not None:
            rival = claims.rival
            cells.ask(f"rival/{called(instance)}", rival, rival.setting, instance, claims.runs)


def at(
    subject: RegretSubject, rate: Rate, x: float, gap: float, population: Population | None = None
) -> tuple[Setting, TwoPoint | Population]:
    """Where a rate's quantity is x: the setting, and the population, or one arm that is better by `gap`."""
    setting, gap = rate.at(x, subject.setting, gap)
    if population is not None:
        return setting, population
    return setting, rates.even(setting.n_arms, gap, subject.bounds, f"gap {gap:g}")


def ask_search(
    cells: Cells,
    subject: RegretSubject,
    rate: Rate,
    stage: str,
    gaps: Mapping[float, Sequence[float]],
    runs: int,
) -> None:
    """One stage of the search for the worst gap: runs at each of the gaps, by the rate's quantity."""
    for x, tried in gaps.items():
        for gap in tried:
            setting, instance = at(subject, rate, x, gap)
            cells.ask(search_cell(rate, stage, x, gap), subject, setting, instance, runs)


def search_cell(rate: Rate, stage: str, x: float, gap: float) -> str:
    """Name of the runs of a search at one gap."""
    return f"search/{rate.over}/{stage}/{x:.17g}/{gap:.17g}"
