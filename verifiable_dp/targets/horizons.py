"""From which horizon on a reward changes an action: below it an audit of actions can see nothing.

Tables of rewards that differ much are played with the same randomness. Where two of them get other actions,
so do two tables on the way from one to the other that differ in one reward.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from verifiable_dp.core.validate import FloatArray, Foreign, InputError, IntArray
from verifiable_dp.evidence.acting import Acting
from verifiable_dp.evidence.blackbox.test import TUNE
from verifiable_dp.targets.far import exactly, is_process, there
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.process import running

_SEEDS, _TABLES = 2, 4
PLAYS = 2 * _SEEDS * _TABLES  # what a search costs at most, in plays of the longest horizon tried


def search(sampler: PlaySampler, bounds: tuple[float, float], most: int) -> Acting:
    """Look for the least horizon at which a reward changes an action, doubling it up to `most`.

    A longer horizon that the code does not take ends the search; at its own horizon the code is known to run.
    """
    first = horizon = sampler.horizon
    idle, acts = 0, _acts(sampler, bounds, first)
    while not acts:
        idle, horizon = horizon, 2 * horizon
        if horizon > most:
            return Acting(first, idle, None)
        try:
            acts = _acts(sampler, bounds, horizon)
        except InputError:
            return Acting(first, idle, None)
    return Acting(first, idle, horizon)


def _acts(sampler: PlaySampler, bounds: tuple[float, float], horizon: int) -> bool:
    """Whether some reward changes some action in a few runs."""
    if is_process(sampler.function) and horizon != sampler.horizon:
        return _acts_anew(sampler, bounds, horizon)
    return _differs(replace(sampler, horizon=horizon), bounds)


@there(exactly(bool))
def _acts_anew(sampler: PlaySampler, bounds: tuple[float, float], horizon: int) -> bool:
    """As `_acts`, of a command, which is told the horizon when it starts."""
    process: Foreign = sampler.function
    with running(replace(process, horizon=horizon)) as longer:
        process = longer
        return _differs(replace(sampler, horizon=horizon, function=process), bounds)


def _differs(sampler: PlaySampler, bounds: tuple[float, float]) -> bool:
    for seed in range(_SEEDS):
        played: IntArray | None = None
        for table in contrasts(sampler.horizon, sampler.n_arms, bounds):
            actions = sampler.actions(table, (TUNE, 0), np.array([seed]))
            if played is not None and not np.array_equal(actions, played):
                return True
            played = actions
    return False


def contrasts(horizon: int, n_arms: int, bounds: tuple[float, float]) -> Iterator[FloatArray]:
    """Tables of rewards (T, K): the first arm is best, the last one, each for half the rounds, a mixture."""
    low, high = bounds
    for best in (0, n_arms - 1):
        table = np.full((horizon, n_arms), low)
        table[:, best] = high
        yield table
    table = table.copy()
    table[: horizon // 2] = table[: horizon // 2, ::-1]
    yield table
    yield np.where(np.random.default_rng(horizon).random((horizon, n_arms)) < 0.5, low, high)
