"""Runs of one call, compared by where they stand in it: for code that makes several runs in a call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verifiable_dp.auditing import independence
from verifiable_dp.auditing.independence import Sampling
from verifiable_dp.auditing.ladder import sizes_in
from verifiable_dp.auditing.rounds_of_testing import UserCase
from verifiable_dp.core.validate import FloatArray, Given
from verifiable_dp.evidence.blackbox import positions
from verifiable_dp.evidence.check import Check

_PATH = 0xCA11  # of the streams used here
_PART, _NAMED = 8, 2  # parts of the runs that may go into this, and into places that numbers of the code name


def compared(case: UserCase[Sampling], data: Given) -> Check:
    """Compare runs on some data by the place and the size of their call, and count what that takes."""
    runs, most = case.allowed.runs, case.sampler.shard
    named = [size for size in sizes_in(case.function) if size <= min(most, runs // _NAMED // positions.CALLS)]
    largest = max([16, min(most, runs // _PART // positions.CALLS, 4096), *named])
    sizes, left = list(positions.SIZES), runs // _PART // positions.CALLS
    for size in named:
        left -= size
        sizes += [size] if left > 0 and size not in sizes else []
    sizes = sorted({*(size for size in sizes if size < largest), largest})

    def draw(first: int, calls: int, count: int) -> FloatArray:
        return independence.of_calls(case.sampler, data, (_PATH,), first, calls, count)

    case.allowed.spend(positions.CALLS * sum(sizes))
    return positions.check(draw, sizes, [step for step in named if 1 < step <= largest // 2])


def even(sampler: Sampling, tables: Sequence[FloatArray]) -> FloatArray:
    """The first table on which runs come out in two ways, the rarer in a third of the runs; else the last.

    There a run without noise, which comes out in one way only, stands out most.
    """
    for number, table in enumerate(tables):
        seen = independence.features(sampler, table, (_PATH, 0, number), 256)
        share = np.minimum((seen > seen.min(axis=0)).mean(axis=0), (seen < seen.max(axis=0)).mean(axis=0))
        if share.max() > 1 / 3:
            return table
    return tables[-1]
