"""Sums of batches in the several ways of NumPy and the standard library: right at EPSILON = 1, and twins.

`RIGHT` gives the true cost of each; no leak has a bound within the claim.
"""

from __future__ import annotations

import statistics

import numpy as np
import pandas as pd

EPSILON = 1.0


def _played(rewards, rng, total, scale):
    """Fresh batches of the arm with the best mean so far."""
    horizon, n_arms = rewards.shape
    sums, pulls, arms = [0.0] * n_arms, [0] * n_arms, []
    for start in range(0, horizon, 3):
        arm = start // 3
        if arm >= n_arms:
            arm = max(range(n_arms), key=lambda a: sums[a] / pulls[a])
        batch = rewards[start : start + 3, arm]
        sums[arm] += total(batch) + rng.laplace(0, scale / EPSILON)
        pulls[arm] += len(batch)
        arms += [arm] * len(batch)
    return arms


_TOTALS = {
    "by_tensordot": lambda x: np.tensordot(x, np.ones(len(x)), axes=1),
    "by_convolve": lambda x: np.convolve(x, np.ones(len(x)), "valid")[0],
    "by_differences": lambda x: np.diff(np.concatenate([[0.0], np.cumsum(x)])).sum(),
    "by_select": lambda x: np.select([x > 0.9, x < 0.1], [np.ones(len(x)), np.zeros(len(x))], x).sum() / 1.1,
    "by_histogram": lambda x: np.histogram(x, bins=[0, 0.5, 1])[0][1],
    "by_count_nonzero": lambda x: np.count_nonzero(x > 0.5),
    "by_windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, len(x)).sum(axis=1)[0],
    "by_vectorize": lambda x: np.vectorize(lambda v: 0.5 * v)(x).sum() * 2,
    "by_fromiter": lambda x: np.fromiter((2 * v for v in x), float).sum() / 2,
    "by_apply_along_axis": lambda x: np.apply_along_axis(np.sum, 0, x[:, None])[0],
    "by_mean": lambda x: statistics.fmean(x) * len(x),
    "by_nansum": lambda x: np.nansum(np.append(x, np.nan)),
    "by_floor": lambda x: sum(10 * v // 10 for v in x),
    "by_series": lambda x: pd.Series(x).clip(0.0, 1.0).sum(),
    "by_frame": lambda x: pd.DataFrame({"arm": 0, "reward": x}).groupby("arm")["reward"].sum().iloc[0],
    "by_ranks": lambda x: len(x) - np.searchsorted(np.sort(x), 0.5),
}


def _program(name, total, scale):
    def play(rewards, rng):
        return _played(rewards, rng, total, scale)

    play.__name__ = name
    return play


RIGHT = {_program(name, total, 1.0): 1.0 for name, total in _TOTALS.items() if name not in ("by_select",)}
LEAKS = [_program(f"{name}_by_half", total, 0.5) for name, total in _TOTALS.items()]


def _leak(total):
    return _program(total.__name__.strip("_"), total, 1.0)


def _windows_that_overlap(x):
    """The reward in the middle counts two times."""
    return np.lib.stride_tricks.sliding_window_view(x, 2).sum() if len(x) > 1 else 0.0


def _mask_of_too_many(x):
    return np.sum(np.append(x, x), where=np.arange(2 * len(x)) <= len(x))


def _differences_apart(x):
    """The absolute differences of neighbours: one reward moves two of them."""
    return np.abs(np.diff(x)).sum()


def _bins_that_overlap(x):
    """Every good reward counts two times."""
    return np.histogram(x, bins=[0, 0.5, 1])[0][1] + np.histogram(x, bins=[0, 0.4, 1])[0][1]


def _series_added_to_itself(x):
    series = pd.Series(x)
    return (series + series).sum()


def _sorted_and_summed_twice(x):
    ranked = np.sort(x)
    return len(x) - np.searchsorted(ranked, 0.5) + ranked.sum()


LEAKS += map(
    _leak,
    (
        _windows_that_overlap,
        _mask_of_too_many,
        _differences_apart,
        _bins_that_overlap,
        _sorted_and_summed_twice,
    ),
)
