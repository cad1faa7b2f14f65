"""Are the runs of a user's code independent of each other, and what decides them?

A test counts runs as independent. Runs of one call of `play_many` or `release` may share a draw, and runs
that are made in several processes may share the state of a generator that each process seeds alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from typing import TypeVar

import numpy as np
from scipy import special  # `scipy.stats` takes a second to load

from verifiable_dp.core.limits import limited
from verifiable_dp.core.validate import FloatArray, Foreign, Given, InputError, IntArray
from verifiable_dp.evidence.tracing.foreign import sources
from verifiable_dp.targets.far import exactly, there
from verifiable_dp.targets.guard import guarded
from verifiable_dp.targets.line import EndedError
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.releases import ReleaseSampler
from verifiable_dp.targets.sampling import ANOTHER_FORM, VARYING

Sampling = TypeVar("Sampling", bound=PlaySampler | ReleaseSampler)
_CALLS, _SIZE = 48, 24  # calls, and runs of each
_SINGLE = 384  # runs made by calls of their own
_COLUMNS = 8
_SHUFFLES = 999
_SUSPECT = 1e-3  # p-value of the quick test at which runs are shuffled
UNTOUCHED = 256  # runs with generators as they are
_ENOUGH = 128  # runs on an input
_LEVEL = 1e-6  # of the comparison with single calls
_ENTRIES = 1 << 18  # of the outcomes of calls that are asked for at once
_PATH = 0x1DE9  # of the streams used here


class CallLaw(IntEnum):
    """How runs of one call compare with runs of calls of their own."""

    ALIKE = 0
    DEPENDENT = 1
    OF_ANOTHER_LAW = 2


def dependent(sampler: Sampling, inputs: Sequence[Given]) -> CallLaw:
    """Whether runs of one call vary together, or have another law than runs of calls of their own.

    Calls are compared by an analysis of variance on ranks; what it suspects is settled by shuffling runs
    among calls, which is exact for independent ones. A false alarm costs time, and accuses nobody. Laws are
    compared by one run of each call, as these are independent whatever runs of a call have in common.

    Parameters
    ----------
    sampler
        Makes several runs in a call.
    inputs
        On which runs are made; three at most are used.
    """
    found = CallLaw.ALIKE
    for number, data in enumerate(list(inputs)[:3]):
        together = of_calls(sampler, data, (_PATH, number), 0, _CALLS, _SIZE)
        alone = features(replace(sampler, rows=1), data, (_PATH, number, _CALLS), _SINGLE)
        apart = _differs(together.reshape(-1, together.shape[2]), alone)
        if not apart and not _varies_by_call(together, number):
            continue
        found = CallLaw.DEPENDENT
        if apart:
            more = of_calls(sampler, data, (_PATH, number), _CALLS, _SINGLE, _SIZE)
            if _differs(more[np.arange(_SINGLE), np.arange(_SINGLE) % _SIZE], alone):
                return CallLaw.OF_ANOTHER_LAW
    return found


def unlike(one: Sampling, other: Sampling, inputs: Sequence[Given], runs: int) -> bool:
    """Whether two ways to make single runs have another law on some input; three at most are used."""
    chosen = list(inputs)[:3]
    chosen = chosen if runs >= _ENOUGH * len(chosen) else chosen[-1:]
    for number, data in enumerate(chosen):
        path = (_PATH, number, _CALLS + 1)
        seen = [features(replace(way, rows=1), data, path, runs // len(chosen)) for way in (one, other)]
        if _differs(*seen):
            return True
    return False


def features(sampler: Sampling, data: Given, path: tuple[int, ...], runs: int) -> FloatArray:
    """Numbers (n, m) that say how runs came out: pulls of arms and some choices, or outputs."""
    return _features(sampler, _outcomes(sampler, data, path, runs))


def _outcomes(sampler: Sampling, data: Given, path: tuple[int, ...], runs: int) -> Foreign:
    numbers = np.arange(runs, dtype=np.int64)
    if isinstance(sampler, PlaySampler):
        return sampler.typed(data, path, None, numbers)
    return sampler.values(data, path, numbers)


def _features(sampler: Sampling, outcomes: Foreign) -> FloatArray:
    if not isinstance(sampler, PlaySampler):
        return np.asarray(np.nan_to_num(outcomes[:, _spread(outcomes.shape[1])], nan=-1e300))
    outcomes = outcomes[:, : sampler.horizon]
    some = outcomes[:, _spread(sampler.horizon)]
    pulls = [(outcomes == arm).sum(axis=1) for arm in range(min(sampler.n_arms, _COLUMNS))]
    return np.concatenate([np.stack(pulls, axis=1), some], axis=1).astype(np.float64)


def of_calls(
    sampler: Sampling, data: Given, path: tuple[int, ...], first: int, calls: int, runs: int
) -> FloatArray:
    """`features` of so many calls, with numbers from the first one on; (calls, runs, columns).

    To ask takes longer than a small call: as many are asked for at once as have `_ENTRIES` outcomes.
    """
    made, lot = list[Foreign](), 1
    while len(made) < calls:
        made += list(_of_each(sampler, data, path, first + len(made), min(lot, calls - len(made)), runs))
        lot = max(1, _ENTRIES // made[0].size)
    return np.stack([_features(sampler, one) for one in _alike(made)])


def _alike(made: Sequence[Foreign]) -> Sequence[Foreign]:
    """What came out of calls, if all have as many outcomes a run."""
    widths = sorted({one.shape[1] for one in made})
    if len(widths) > 1:
        raise InputError(VARYING.format(*widths[:2]))
    return made


def _read_each(told: Foreign, arguments: Sequence[Given]) -> Foreign:
    """Reads what came out of each call."""
    sampler, *_, calls, runs = arguments
    if type(told) is not np.ndarray or told.ndim != 3 or len(told) != calls:
        raise EndedError(ANOTHER_FORM)
    for one in told:
        sampler.check_rows(one, runs)
    return told


@there(_read_each)
def _of_each(
    sampler: Sampling, data: Given, path: tuple[int, ...], first: int, calls: int, runs: int
) -> Foreign:
    return np.stack(
        _alike([_outcomes(sampler, data, (*path, call), runs) for call in range(first, first + calls)])
    )


def _spread(width: int) -> IntArray:
    return np.unique(np.linspace(0, width - 1, min(width, _COLUMNS)).astype(np.int64))


def _varies_by_call(values: FloatArray, seed: int) -> bool:
    """Whether the ranks of (calls, runs, columns) differ more between calls than within, or much less."""
    calls, runs, columns = values.shape
    ranks = np.stack([_ranks(values[..., j].ravel()).reshape(calls, runs) for j in range(columns)])
    ranks = ranks[ranks.std(axis=(1, 2)) > 0]  # what never varies says nothing
    if not len(ranks):
        return False
    ratio, freedom = _ratio(ranks), (calls - 1, calls * (runs - 1))
    tails = special.fdtrc(*freedom, ratio.max()), special.fdtr(*freedom, ratio.min())
    if min(tails) * 2 * len(ranks) > _SUSPECT:
        return False
    rng = np.random.default_rng(seed)
    flat = ranks.reshape(len(ranks), -1)
    orders = (rng.permutation(calls * runs) for _ in range(_SHUFFLES))
    shuffled = np.array([_ratio(flat[:, order].reshape(ranks.shape)) for order in orders])
    return bool(ratio.max() > shuffled.max() or ratio.min() < shuffled.min())


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks from 1 on; equal values have their mean rank."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[places])


def _ratio(ranks: FloatArray) -> FloatArray:
    """Variance between calls over that within them, of (columns, calls, runs); columns that vary at all."""
    calls, runs = ranks.shape[1:]
    means = ranks.mean(axis=2)
    between = runs * means.var(axis=1, ddof=1)
    within = ((ranks - means[:, :, None]) ** 2).sum(axis=(1, 2)) / (calls * (runs - 1))
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(within > 0, between / within, np.inf))


def _differs(together: FloatArray, alone: FloatArray) -> bool:
    """Whether single calls have another law in some column, by the test of Kolmogorov and Smirnov."""
    size = round(len(together) * len(alone) / (len(together) + len(alone)))
    apart = max(_apart(one, other) for one, other in zip(together.T, alone.T, strict=True))
    return bool(2 * special.smirnov(size, apart) * together.shape[1] < _LEVEL)


def _apart(one: FloatArray, other: FloatArray) -> float:
    """The largest distance between two empirical distribution functions."""
    values = np.concatenate([one, other])
    below = [np.searchsorted(np.sort(each), values, side="right") / len(each) for each in (one, other)]
    return float(np.abs(below[0] - below[1]).max())


@there(exactly(tuple[str, ...]))
def used(sampler: Sampling, data: Given) -> tuple[str, ...]:
    """Where one run takes its randomness from, see `tracing.foreign.sources`."""
    one = replace(sampler, rows=1) if sampler.together else sampler
    found: list[str] = []

    def call(rng: np.random.Generator) -> None:
        if isinstance(one, PlaySampler):
            given = (data.copy(), 1, rng) if one.many else (data.copy(), rng)
        else:
            given = (data, 1, rng)
        one.function(*given)

    with guarded(), limited(sampler.timeout, runs=2):
        for seed in range(2):  # what is made at the first call is seen at the second
            found.extend(sources(call, np.random.Philox(seed)))
    return tuple(dict.fromkeys(found))
