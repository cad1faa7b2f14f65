"""Neighbours that follow from what is asked: made where the code runs, and again where none of it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from verifiable_dp.auditing import groups, ladder
from verifiable_dp.auditing.request import AuditRequest, Inputs, Promise
from verifiable_dp.core import validate
from verifiable_dp.core.neighbours import Pair
from verifiable_dp.core.validate import FloatArray, Given, IntArray
from verifiable_dp.evidence.blackbox import trials
from verifiable_dp.evidence.blackbox.search import PairSearch, Play
from verifiable_dp.evidence.blackbox.users import UserSearch
from verifiable_dp.targets.load import DataPair
from verifiable_dp.targets.sent import digest_of

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


@dataclass(frozen=True)
class AskedNeighbours:
    """The neighbours that a request stands for: see `targets.candidates.Designed`."""

    request: AuditRequest

    @property
    def open(self) -> bool:
        """See `Designed.open`."""
        return self.request.inputs.pairs is None and self.request.promise.adjacency is None

    def of_bandit(self, play: Callable[[FloatArray, int], IntArray], runs: int) -> list[Pair]:
        """See `Designed.of_bandit`."""
        inputs, promise = self.request.inputs, self.request.promise
        found = first(plain(finder_of(play, inputs, promise, 1), inputs.pairs), runs)
        if promise.group is None:
            return found
        return [groups.widened(pair, promise.group, play(pair.worlds()[0], 1)[0]) for pair in found]

    def of_mechanism(self) -> list[list[DataPair]]:
        """See `Designed.of_mechanism`."""
        inputs, kind = self.request.inputs, self._kind
        if inputs.pairs is not None:
            return [[DataPair(left, right) for left, right in inputs.pairs]]
        bounds = validate.bounds("bounds", inputs.bounds)
        *short, last = forms_of(bounds, kind)
        taken = [[last], *([one, *more] for one in short for more in ([], [last]))]
        return [around(forms, bounds, kind) for forms in taken]

    def of_size(self, data: Given) -> bool:
        """See `Designed.of_size`."""
        sizes = [np.size(side) for side in data]
        if self.request.inputs.pairs is not None or max(sizes) > ladder.LARGEST + 1:
            return False
        bounds, found = validate.bounds("bounds", self.request.inputs.bounds), digest_of(data)
        pairs = ladder.neighbours(max(sizes), bounds, self._kind)
        return found in [digest_of(pair.worlds()) for pair in pairs]

    @property
    def _kind(self) -> str:
        return self.request.promise.adjacency or "replace"
