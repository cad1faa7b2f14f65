"""Bets against the claim: how much to stake on each outcome, and what it has grown to."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import logsumexp

from verifiable_dp.core.validate import FloatArray, InputError, Json, JsonDict, Numbers
from verifiable_dp.evidence.blackbox.statistics import DETECTABLE_STEP, least_factor

Counts = tuple[int, int, int, int]  # hits and runs in the more frequent world, then in the other one
Payoffs = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
CASH = 0.25  # part of the wealth that each round keeps aside: no round can lose more than the rest
STEPS = np.arange(-4.0, 5.0)  # of the alternatives, in standard errors of the selection runs
_WIDTH = 1.5  # standard deviation of their weights
LOG_WEIGHTS = np.add.outer(*[-0.5 * (STEPS / _WIDTH) ** 2] * 2).ravel()
LOG_WEIGHTS -= logsumexp(LOG_WEIGHTS)
_ALMOST = 1 - 1e-9  # of an event that always hits
_KEPT = 1e-9  # least payoff, as a part of the stake
_CHUNK = 32  # claims that the confidence sequence tries at once
_DETECTED = 1.6448536269514722  # normal quantile of .95
_FIRST_STEP, _STEP, _LARGEST = 0.002, 0.002, 30.0  # of its claims: a step, then relative steps


@dataclass(frozen=True)
class Bet:
    """Stakes against p <= e^eps q + delta.

    Attributes
    ----------
    coin, hit : (...) float
        c and lambda of the module's docstring.
    epsilon, delta
        Of the claim; `epsilon` may be an array that broadcasts against the stakes.
    """

    coin: FloatArray
    hit: FloatArray
    epsilon: Numbers
    delta: float

    def log_payoffs(self) -> Payoffs:
        """Logs of what a run pays: world 1 with and without a hit, world 0 with and without."""
        c, stake = self.coin, self.hit
        return (
            np.log1p(c + stake * (1 - self.delta)),
            np.log1p(c - stake * self.delta),
            np.log1p(-c - stake * np.exp(self.epsilon)),
            np.log1p(-c),
        )


def log_product(payoffs: Payoffs, counts: Numbers) -> FloatArray:
    """Log of what the counted runs pay together, (...), from `Bet.log_payoffs`; counts as `Counts`."""
    k1, n1, k0, n0 = counts
    both, missed, other, idle = payoffs
    return np.asarray(k1 * both + (n1 - k1) * missed + k0 * other + (n0 - k0) * idle)


def projection(p: Numbers, q: Numbers, epsilon: Numbers, delta: float) -> FloatArray:
    """q0 of the pair (e^eps q0 + delta, q0) that is nearest to (p, q) in Kullback-Leibler divergence.

    Parameters
    ----------
    p, q
        Probabilities in (0, 1) with p > e^eps q + delta, any shapes that broadcast.
    epsilon, delta
        The claim.
    """
    p, q, growth = np.broadcast_arrays(p, q, np.exp(epsilon))
    if delta == 0:  # the derivative is quadratic; its smaller root
        middle = 1 + p + growth * (1 + q)
        square = np.maximum(middle**2 - 8 * growth * (p + q), 0.0)  # where p and q are near 1 it rounds below
        return np.asarray(2 * (p + q) / (middle + np.sqrt(square)))
    # The derivative is monotone between the point below and the point beside (p, q).
    low, high = np.log(q), np.log(np.maximum((p - delta) / growth, q))
    for _ in range(45):
        q0 = np.exp((low + high) / 2)
        other = growth * q0 + delta
        rising = growth * (p - other) / (other * (1 - other)) + (q - q0) / (q0 * (1 - q0)) > 0
        low, high = np.where(rising, (low + high) / 2, low), np.where(rising, high, (low + high) / 2)
    return np.asarray(np.exp((low + high) / 2))


def bet_for(p: FloatArray, q: FloatArray, epsilon: Numbers, delta: float) -> Bet:
    """The bet that grows fastest if the probabilities are p and q; none where they keep the claim.

    Parameters
    ----------
    p, q : (...) float
        Alternatives, in (0, 1).
    epsilon, delta
        The claim; `epsilon` may be an array that broadcasts.
    """
    p, q, epsilon = np.broadcast_arrays(p, q, np.asarray(epsilon, dtype=np.float64))
    growth = np.exp(epsilon)
    broken = p > growth * q + delta
    safe_p = np.where(broken, p, 0.5 + delta / 2)
    safe_q = np.where(broken, q, 0.25 * (safe_p - delta) / growth)
    q0 = projection(safe_p, safe_q, epsilon, delta)
    fall = np.maximum(q0 - safe_q, 0.0)
    # Whatever the rounding of q0, no payoff may be negative, and none may end the game.
    coin = np.where(broken, np.maximum(-fall / (1 - q0), _KEPT - 1), 0.0)
    stake = np.where(broken, fall / (q0 * (1 - q0)) / growth, 0.0)
    most = (1 - _KEPT) * (1 - coin) / growth
    if delta > 0:
        most = np.minimum(most, (1 - _KEPT) * (1 + coin) / delta)
    return Bet(coin, np.minimum(stake, most), epsilon, delta)


def growth_rate(p: float, q: float, epsilon: float, delta: float = 0.0) -> float:
    """Expected log payoff of a run under the best bet: no e-process grows faster.

    log(1 / alpha) over this is the number of runs, of both worlds together, that a refutation of the claim
    takes at least, up to what is not proportional to it.
    """
    if not p > math.exp(epsilon) * q + delta:
        return 0.0
    both, missed, other, idle = (float(x) for x in bet_for(*_pair(p, q), epsilon, delta).log_payoffs())
    return 0.5 * (p * both + (1 - p) * missed + q * other + (1 - q) * idle)


def _pair(p: float, q: float) -> tuple[FloatArray, FloatArray]:
    least = 1e-15
    return np.clip(p, least, 1 - least), np.clip(q, least, 1 - least)


@dataclass(frozen=True)
class Candidate:
    """An event that is bet on in a round, and how often it has hit.

    Attributes
    ----------
    weight
        Part of the round's stake that is bet on it.
    shares, held
        Frequencies in the more and in the less frequent world, of `held` selection runs a side: the
        alternatives spread around them.
    counts
        Cumulative counts at the looks of the round.
    words
        Pair, event and direction, for the record.
    """

    weight: float
    shares: tuple[float, float]
    held: int
    counts: tuple[Counts, ...] = ()
    words: Json = field(default_factory=dict)

    def log_e(self, epsilon: Numbers, delta: float) -> FloatArray:
        """Log e-values at all looks against claims `epsilon` (m,), (looks, m)."""
        p, q, log_weight = alternatives(self.shares, self.held)
        bet = bet_for(p, q, np.asarray(epsilon, dtype=np.float64)[:, None], delta)
        payoffs = bet.log_payoffs()
        return np.array([logsumexp(log_weight + log_product(payoffs, row), axis=1) for row in self.counts])

    def looked(self, more: Counts) -> Candidate:
        """With another look, `more` being the counts since the last one."""
        last = self.counts[-1] if self.counts else (0, 0, 0, 0)
        now = (last[0] + more[0], last[1] + more[1], last[2] + more[2], last[3] + more[3])
        return replace(self, counts=(*self.counts, now))

    def as_dict(self) -> JsonDict:
        """JSON values."""
        return {
            **self.words,
            "weight": self.weight,
            "shares": list(self.shares),
            "held": self.held,
            "counts": [list(row) for row in self.counts],
        }

    @classmethod
    def of(cls, entry: Json) -> Candidate:
        """From its JSON values.

        Raises
        ------
        InputError
            If a count exceeds its runs, or the numbers leave their range.
        """
        rows = []
        for row in entry["counts"]:
            k1, n1, k0, n0 = (int(x) for x in row)
            if not (0 <= k1 <= n1 and 0 <= k0 <= n0):
                raise InputError(
                    "record: counts must be hits and runs of both worlds, with hits at most runs"
                )
            rows.append((k1, n1, k0, n0))
        p, q = (float(x) for x in entry["shares"])
        return cls(float(entry["weight"]), (p, q), int(entry["held"]), tuple(rows))


def alternatives(shares: tuple[float, float], held: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Alternatives p, q (m,) on a grid in logits around the shares, and the logs of their weights.

    Parameters
    ----------
    shares, held
        As in `Candidate`.
    """
    p, q = (spread(np.array(share), held) for share in shares)
    return np.repeat(p, len(STEPS)), np.tile(q, len(STEPS)), LOG_WEIGHTS


def spread(share: FloatArray, held: int) -> FloatArray:
    """Probabilities (..., 9) in steps of a standard error of the logit around shares (...)."""
    hits = np.clip(share, 0.0, 1.0) * held + 0.5
    rest = held + 1 - hits
    logit = np.log(hits / rest)[..., None] + np.sqrt(1 / hits + 1 / rest)[..., None] * STEPS
    return np.asarray(1 / (1 + np.exp(-np.clip(logit, -40, 34))))


def round_wealth(
    candidates: Sequence[Candidate], epsilon: FloatArray, delta: float, before: FloatArray
) -> FloatArray:
    """Log wealth at the looks of a round, (looks, m), against claims (m,), from that `before` it, (m,).

    The e-values of the candidates and the cash are averaged by weights that were fixed before the round.
    """
    cash = 1 - math.fsum(c.weight for c in candidates)
    parts = [math.log(c.weight) + c.log_e(epsilon, delta) for c in candidates]
    parts.append(np.full(parts[0].shape, math.log(cash) if cash > 0 else -math.inf))
    return np.asarray(before + logsumexp(parts, axis=0))


def log_wealth(rounds: Sequence[Sequence[Candidate]], epsilon: Numbers, delta: float) -> FloatArray:
    """Log e-values at all looks of all rounds, in order, against claims `epsilon` (m,).

    Each round bets what the last one has left.

    Returns
    -------
    (looks, m) float
    """
    epsilon = np.asarray(epsilon, dtype=np.float64)
    parts, before = [], np.zeros(len(epsilon))
    for candidates in rounds:
        parts.append(round_wealth(candidates, epsilon, delta, before))
        before = parts[-1][-1]
    return np.concatenate(parts)


@functools.cache
def _claims() -> FloatArray:
    """The claims that the confidence sequence tries, in ascending order, from 0 to 30."""
    linear = np.arange(0, 1, _FIRST_STEP)
    return np.append(linear, np.exp(np.arange(0, math.log(_LARGEST), _STEP)))


def lower_limits(rounds: Sequence[Sequence[Candidate]], delta: float, level: float) -> FloatArray:
    """Lower confidence sequence for epsilon: with probability 1 - `level` no limit ever exceeds it.

    A limit moves up a fixed ladder of claims while the e-value against the next one is at least 1 / level,
    and never down. To get past the true epsilon it would have to refute the first claim of the ladder that
    is not below it.

    Returns
    -------
    (looks,) float
        After each look; 0 if not even epsilon = 0 is refuted.
    """
    ladder, steps, limits = _claims(), 0, []
    looks = sum(len(candidates[0].counts) for candidates in rounds)
    known: dict[int, FloatArray] = {}  # log wealth at all looks, by chunk of the ladder
    for look in range(looks):
        while steps < len(ladder):
            chunk, place = divmod(steps, _CHUNK)
            if chunk not in known:
                known[chunk] = log_wealth(rounds, ladder[chunk * _CHUNK : (chunk + 1) * _CHUNK], delta)
            if not known[chunk][look, place] >= -math.log(level):  # nor does what is not a number climb
                break
            steps += 1
        limits.append(ladder[steps - 1] if steps else 0.0)
    return np.array(limits)


def detectable(rounds: Sequence[Sequence[Candidate]], epsilon: float, delta: float, alpha: float) -> float:
    """The least true epsilon that the last round refutes with probability .95, at the event it bets most on.

    By the normal law of the log of the wealth, as `rejection_power` simulates it: the bet that grows fastest
    is one of those that are averaged, and the rounds before can have lost all but the cash of each.
    """
    best = max(rounds[-1], key=lambda candidate: candidate.weight)
    k1, n1, _, n0 = (float(number) for number in best.counts[-1])
    p, runs = k1 / max(n1, 1), n1 + n0
    kept = math.log(best.weight) + float(LOG_WEIGHTS.max()) + (len(rounds) - 1) * math.log(CASH)

    def caught(factor: float) -> bool:
        q = max((p - delta) * math.exp(-factor * epsilon), 1 / (2 * runs + 2))
        if not math.exp(epsilon) * q + delta < p:
            return False
        bet = bet_for(*_pair(min(p, _ALMOST), q), epsilon, delta)
        payoffs = [np.asarray(x).item() for x in bet.log_payoffs()]
        shares = (p / 2, (1 - p) / 2, q / 2, (1 - q) / 2)
        mean = sum(share * x for share, x in zip(shares, payoffs, strict=True))
        square = sum(share * x * x for share, x in zip(shares, payoffs, strict=True))
        wealth = kept + runs * mean - _DETECTED * math.sqrt(runs * max(square - mean**2, 0.0))
        return wealth >= -math.log(alpha)

    least = least_factor(caught, DETECTABLE_STEP) if p > delta else None
    return math.inf if least is None else least * epsilon
