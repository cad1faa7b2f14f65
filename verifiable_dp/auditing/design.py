"""Neighbours that follow from what is asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verifiable_dp.auditing.request import Inputs, Promise
from verifiable_dp.core import validate
from verifiable_dp.core.neighbours import Pair
from verifiable_dp.core.validate import FloatArray, Given
from verifiable_dp.evidence.blackbox import trials
from verifiable_dp.evidence.blackbox.search import PairSearch, Play
from verifiable_dp.evidence.blackbox.users import UserSearch
from verifiable_dp.targets.releases import DataPair

Form = tuple[float | FloatArray, float | FloatArray]
FEW_RUNS = 1500  # of a bandit, below which few plain neighbours are tried, and nothing is searched for
FEW_PLAIN = 4


def finder_of(play: Play, inputs: Inputs, promise: Promise, runs: int) -> PairSearch | UserSearch:
    """The search for neighbours of a bandit, whose estimates take so many runs."""
    n_arms, horizon = validate.arms_and_horizon(inputs.n_arms, inputs.horizon)
    form = inputs.form
    if form is not None:
        return UserSearch(play, form, horizon, runs, promise.protects == "reward")
    bounds = validate.bounds("bounds", inputs.bounds)
    return PairSearch(play, n_arms, horizon, bounds, runs, adjacency=promise.adjacency or "replace")


def plain(finder: PairSearch | UserSearch, given: Sequence[Given] | None) -> list[Pair]:
    """Neighbours that are not searched for: those given, else the plain ones."""
    return list(given) if given is not None else list(finder.plain())


def first(pairs: list[Pair], runs: int) -> list[Pair]:
    """Those of them that the first look has, by the runs of the audit."""
    return pairs[:FEW_PLAIN] if runs < FEW_RUNS else pairs


def forms_of(bounds: tuple[float, float], kind: str) -> list[Form]:
    """Forms of data that a mechanism may take, as neighbours: a number, a vector of one entry, of five."""
    low, high = bounds
    five = np.full(5, low)
    if kind == "zero-out":
        far = high or low
        return [(far, 0.0), (np.array([far]), np.zeros(1)), (np.full(5, far), np.r_[0.0, np.full(4, far)])]
    if kind == "add-remove":
        return [(five, five[1:])]
    return [
        (low, high),
        (np.array([low]), np.array([high])),
        (five, np.concatenate([[high], five[1:]])),
    ]


def around(forms: Sequence[Form], bounds: tuple[float, float], kind: str) -> list[DataPair]:
    """Neighbours of some forms, and their variants (`trials.data_pairs`)."""
    return [DataPair(*pair) for form in forms for pair in trials.data_pairs(*form, bounds, kind)]
