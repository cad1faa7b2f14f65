"""Interactive adversaries: what one knows when it pays a reward, and ready strategies with a compiled loop.

An adversary is a function of public things and of what it paid itself. It does not know which of the two
worlds it plays in: of its challenge it remembers the middle of the two rewards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from verifiable_dp.core import validate
from verifiable_dp.core.kernels import kernel, njit
from verifiable_dp.core.validate import FloatArray, InputError, IntArray

_FLATTER, _BALANCE, _PUNISH, _TEASE, _ALTERNATE, _RESTLESS, _LEARNT = range(7)
FEATURES = (
    "constant",
    "arm 0 against others",
    "lead of the mean",
    "lead of the sum",
    "share of pulls",
    "stayed",
    "switches",
    "time",
    "after the challenge",
    "arm 0 after the challenge",
)


@dataclass(frozen=True)
class AdversaryKind:
    """A family of strategies: its number in the compiled loop, its parameters, what it does."""

    number: int
    parameters: tuple[str, ...]
    words: str


KINDS = {
    "flatter": AdversaryKind(
        _FLATTER, ("favourite",), "high rewards for one arm, low rewards for the others"
    ),
    "balance": AdversaryKind(_BALANCE, (), "high rewards for the arms pulled least so far"),
    "punish": AdversaryKind(
        _PUNISH, (), "low rewards for the arm with the largest mean so far, high rewards for the others"
    ),
    "tease": AdversaryKind(
        _TEASE,
        ("gap", "growth"),
        "keeps decisions close: the total reward of arm 0 exceeds the others by gap + growth sqrt(pulls)",
    ),
    "alternate": AdversaryKind(
        _ALTERNATE,
        ("period",),
        "for each arm, high rewards for that many pulls, then low rewards for as many",
    ),
    "restless": AdversaryKind(
        _RESTLESS, (), "a high reward when the arm changes, a low one when it does not"
    ),
    "learnt": AdversaryKind(
        _LEARNT,
        ("horizon", "challenge", *FEATURES),
        "the midpoint plus a weighted sum of what it saw, clipped to the bounds; its weights are learnt",
    ),
}


@dataclass(frozen=True)
class History:
    """What an adversary knows about n runs when it pays the reward of a round.

    Attributes
    ----------
    t : (n,) int
        The round, from 0.
    arm : (n,) int
        The arm that was chosen.
    pulls : (n, K) int
        Earlier pulls by arm.
    paid : (n, K) float
        Sum of what it paid earlier, by arm; a challenge counts with the middle of its two rewards.
    last : (n,) int
        Arm of the round before, -1 in the first.
    switches : (n,) int
        Earlier rounds in which the arm was not that of the round before.
    """

    t: IntArray
    arm: IntArray
    pulls: IntArray
    paid: FloatArray
    last: IntArray
    switches: IntArray

    @classmethod
    def of(cls, t: IntArray, arm: IntArray, pulls: IntArray) -> History:
        """With nothing known but the pulls."""
        n = len(arm)
        return cls(t, arm, pulls, np.zeros(pulls.shape), np.full(n, -1), np.zeros(n, np.int64))


@dataclass(frozen=True)
class Strategy:
    """A ready adversary: a kind of `KINDS` and its parameters. It can be written into a record.

    Parameters
    ----------
    name
        One of `KINDS`.
    parameters
        Numbers, as the kind names them.
    bounds
        Range of the rewards; finite.

    Raises
    ------
    InputError
        If the name is unknown, or a parameter is missing, not finite or out of range.
    """

    name: str
    parameters: tuple[float, ...] = ()
    bounds: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        validate.choice("adversary", self.name, tuple(KINDS))
        low, high = validate.bounds("bounds", self.bounds)
        names = KINDS[self.name].parameters
        values = validate.rewards("adversary's parameters", self.parameters, (-np.inf, np.inf), ndim=1)
        if len(values) != len(names):
            raise InputError(
                f"adversary {self.name} takes {len(names)} parameters ({', '.join(names)}), got {len(values)}"
            )
        whole = {"flatter": 0, "alternate": 1, "learnt": 1}
        if self.name in whole:
            validate.integer(names[0], float(values[0]), least=whole[self.name])
        object.__setattr__(self, "parameters", tuple(values.tolist()))
        object.__setattr__(self, "bounds", (low, high))

    def __call__(self, t: IntArray, arm: IntArray, pulls: IntArray) -> FloatArray:
        """Rewards (n,), with nothing known but the pulls."""
        return self.pay(History.of(t, arm, pulls))

    def pay(self, history: History) -> FloatArray:
        """Rewards (n,) of the coming round."""
        known = history
        return np.asarray(
            _pay_all(
                *self.compiled,
                np.asarray(known.t, np.int64),
                np.asarray(known.arm, np.int64),
                np.asarray(known.pulls, np.int64),
                known.paid,
                np.asarray(known.last, np.int64),
                known.switches,
            )
        )

    @property
    def compiled(self) -> tuple[int, FloatArray, float, float]:
        """Kind, parameters and bounds, as the compiled loops take them."""
        return KINDS[self.name].number, np.array(self.parameters, dtype=np.float64), *self.bounds

    def describe(self) -> str:
        """Name and parameters; of what was learnt, the name."""
        if self.name == "learnt" or not self.parameters:
            return self.name
        named = zip(KINDS[self.name].parameters, self.parameters, strict=True)
        return f"{self.name} ({', '.join(f'{name} {value:g}' for name, value in named)})"


def flatter(bounds: tuple[float, float], favourite: int) -> Strategy:
    """Pays `favourite` the high reward and every other arm the low one."""
    return Strategy("flatter", (favourite,), bounds)


def balance(bounds: tuple[float, float]) -> Strategy:
    """Pays high rewards for the arms pulled least so far: it keeps the indices close."""
    return Strategy("balance", (), bounds)


def punish(bounds: tuple[float, float]) -> Strategy:
    """Pays low rewards for the arm with the largest mean so far, high rewards for the others."""
    return Strategy("punish", (), bounds)


def tease(bounds: tuple[float, float], gap: float = 0.0, growth: float = 0.0) -> Strategy:
    """Keeps arm 0 ahead of each other arm by gap + growth sqrt(pulls): near a decision.

    The lead is that of the means, times the pulls of the arm that is paid, in units of the range.
    """
    return Strategy("tease", (gap, growth), bounds)


def alternate(bounds: tuple[float, float], period: int) -> Strategy:
    """Pays each arm high for `period` pulls of it, then low for as many, and so on."""
    return Strategy("alternate", (period,), bounds)


def restless(bounds: tuple[float, float]) -> Strategy:
    """Pays high where the arm is not that of the round before."""
    return Strategy("restless", (), bounds)


def learnt(bounds: tuple[float, float], horizon: int, challenge: int, weights: Sequence[float]) -> Strategy:
    """Pays the middle of the bounds plus half their range times a score, cut to the bounds.

    The score is the weighted sum of `FEATURES`: leads in units of the range, that of the sum over
    sqrt(1 + pulls); share of pulls, switches and time moved to [-1, K - 1], [-1, 1] and [-1, 1]; the others
    1 for yes and -1 for no.

    Parameters
    ----------
    bounds
        Range of the rewards.
    horizon, challenge
        T, and the challenge round from 0: features speak of both.
    weights
        One for each of `FEATURES`.
    """
    return Strategy("learnt", (horizon, challenge, *np.asarray(weights, np.float64).tolist()), bounds)


# ---------------------------------------------------------------- compiled

_inlined = njit(nogil=True, inline="always", error_model="numpy")
_compiled = partial(kernel, error_model="numpy")


@_inlined
def _mean(r, arm, pulls, paid, middle):  # type: ignore[no-untyped-def]
    return paid[r, arm] / pulls[r, arm] if pulls[r, arm] > 0 else middle


@_compiled
def _teased(gap, growth, low, high, r, arm, pulls, paid):  # type: ignore[no-untyped-def]
    middle = (low + high) / 2
    first = _mean(r, 0, pulls, paid, middle)
    other = _mean(r, arm, pulls, paid, middle)
    if arm == 0:
        other = -math.inf
        for a in range(1, pulls.shape[1]):
            other = max(other, _mean(r, a, pulls, paid, middle))
    lead = (first - other) * pulls[r, arm] / (high - low)
    behind = lead < gap + growth * math.sqrt(pulls[r, arm])
    return high if behind == (arm == 0) else low


@_compiled
def _scored(p, low, high, t, r, arm, pulls, paid, last, switches):  # type: ignore[no-untyped-def]
    """Weighted sum of `FEATURES`; p is (horizon, challenge, weights…)."""
    k, wide, middle = pulls.shape[1], high - low, (low + high) / 2
    mean, total = 0.0, 0.0
    for a in range(k):
        if a != arm:
            mean += _mean(r, a, pulls, paid, middle)
            total += paid[r, a]
    share = 1.0 / max(k - 1, 1)
    side = 1.0 if arm == 0 else -1.0
    after = 1.0 if t > p[1] else -1.0
    each = 1.0 / max(t, 1)
    n = pulls[r, arm]
    score = p[2] + p[3] * side
    score += p[4] * (_mean(r, arm, pulls, paid, middle) - mean * share) / wide
    score += p[5] * (paid[r, arm] - total * share) / (wide * math.sqrt(1.0 + n))
    score += p[6] * (k * n * each - 1.0)
    score += p[7] * (0.0 if last < 0 else (1.0 if arm == last else -1.0))
    score += p[8] * (2.0 * switches * each - 1.0)
    score += p[9] * (2.0 * t / p[0] - 1.0)
    return score + p[10] * after + p[11] * after * side


@_compiled
def _pay(kind, p, low, high, t, r, arm, pulls, paid, last, switches):  # type: ignore[no-untyped-def]
    """Reward of one round of row r."""
    k = pulls.shape[1]
    if kind == _FLATTER:
        return high if arm == int(p[0]) else low
    if kind == _BALANCE:
        for a in range(k):
            if pulls[r, a] < pulls[r, arm]:
                return low
        return high
    if kind == _PUNISH:
        leader, best = -1, -math.inf
        for a in range(k):
            if pulls[r, a] > 0 and paid[r, a] / pulls[r, a] > best:
                leader, best = a, paid[r, a] / pulls[r, a]
        return low if arm == leader else high
    if kind == _TEASE:
        return _teased(p[0], p[1], low, high, r, arm, pulls, paid)
    if kind == _ALTERNATE:
        return high if (pulls[r, arm] // int(p[0])) % 2 == 0 else low
    if kind == _RESTLESS:
        return high if arm != last else low
    score = _scored(p, low, high, t, r, arm, pulls, paid, last, switches)
    return min(max((low + high) / 2 + 0.5 * (high - low) * score, low), high)


@_compiled
def _pay_all(kind, p, low, high, t, arm, pulls, paid, last, switches):  # type: ignore[no-untyped-def]
    out = np.empty(len(arm))
    for i in range(len(arm)):
        out[i] = _pay(kind, p, low, high, t[i], i, arm[i], pulls, paid, last[i], switches[i])
    return out


@_compiled
def play_blocks(  # type: ignore[no-untyped-def]
    kind, p, low, high, challenge, value, middle, start, rounds, active, counts, first, stop,
    pulls, paid, last, switches, sums, rewards, arms
):  # fmt: skip
    """Play steps first .. stop - 1 of each block against a ready strategy.

    The history (pulls, paid, last, switches) goes on in place and rewards are added to `sums` (n, K). They
    are also written to `rewards` and `arms` (n, stop - first) if these have columns.
    """
    k, given, keep = active.shape[1], len(counts) > 0, rewards.shape[1] > 0
    order = np.empty(k, np.int64)
    for i in range(len(rounds)):
        size = 0
        for a in range(k):
            if active[i, a]:
                order[size] = a
                size += 1
        turn, left = 0, np.int64(0)
        if given:
            left = np.int64(counts[i, 0])
        changes, before = switches[i], last[i]
        for step in range(min(stop, rounds[i])):
            if given:
                while left == 0 and turn < k - 1:
                    turn += 1
                    left = np.int64(counts[i, turn])
                left -= 1
                arm = turn
            else:
                arm = order[turn]
                turn = turn + 1 if turn + 1 < size else 0
            if step < first:
                continue
            t = start[i] + step
            x = _pay(kind, p, low, high, t, i, arm, pulls, paid, before, changes)
            paid[i, arm] += middle if t == challenge else x
            if t == challenge:
                x = value
            sums[i, arm] += x
            if keep:
                rewards[i, step - first] = x
                arms[i, step - first] = arm
            pulls[i, arm] += 1
            if before >= 0 and before != arm:
                changes += 1
            before = arm
        switches[i], last[i] = changes, before
