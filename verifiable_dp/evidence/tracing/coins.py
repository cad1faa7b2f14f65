"""Randomised response on whole arrays: coins that uniform draws show, and the bits that they turn.

An array of uniform draws that is compared with public chances shows coins. Where such coins choose between
raw bits and their opposites, as `np.where(coins, bits, 1 - bits)`, `bits ^ coins` or
`bits[coins] = 1 - bits[coins]`, every bit is told at the cost of its coin, log(p / (1 - p)). Whatever else is
done with draws or coins shows them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.tracing.ledger import Flips, Ledger

_BELOW = (np.less, np.less_equal)
_ABOVE = (np.greater, np.greater_equal)
_NOT = (np.logical_not, np.invert)
_EITHER = (np.bitwise_xor, np.logical_xor, np.not_equal, np.equal)
# Bits and signs: sets of two that are known without looking at data.
_OPPOSITES = ((0.0, 1.0), (-1.0, 1.0))


def tossed(
    ufunc: np.ufunc, inputs: Sequence[Foreign], plain: Sequence[Foreign], raw: bool
) -> tuple[Foreign, Flips] | None:
    """The coins that a comparison with public chances, or a negation, shows; None if it is neither."""
    if raw:
        return None
    if len(inputs) == 1 and ufunc in _NOT and plain[0].dtype == np.bool_:
        flips = getattr(inputs[0], "flips", None)
        return (ufunc(plain[0]), Flips(flips.draws, 1 - flips.chances)) if flips else None
    if len(inputs) != 2 or ufunc not in (*_BELOW, *_ABOVE):
        return None
    held: list[Foreign] = [getattr(x, "uniform", None) for x in inputs]
    left = held[0] is not None
    if left == (held[1] is not None):
        return None
    draws, limit = (held[0], plain[1]) if left else (held[1], plain[0])
    shape = draws.shape
    if np.broadcast_shapes(shape, np.shape(limit)) != shape:
        return None
    below = np.broadcast_to(np.clip(np.asarray(limit, np.float64), 0.0, 1.0), shape)
    return ufunc(*plain), Flips(draws, below if (ufunc in _BELOW) == left else 1 - below)


def drawn(ledger: Ledger, ufunc: np.ufunc, inputs: Sequence[Foreign], plain: Sequence[Foreign]) -> Foreign:
    """Outcomes of a comparison of uniform draws with raw chances; None if it is something else."""
    if len(inputs) != 2 or ufunc not in (*_BELOW, *_ABOVE):
        return None
    left = getattr(inputs[0], "uniform", None) is not None
    draws = getattr(inputs[0 if left else 1], "uniform", None)
    if draws is None or np.shape(plain[1 if left else 0]) not in ((), draws.shape):
        return None
    if not ledger.once(draws, "asked"):
        ledger.show(draws)
    limit = np.broadcast_to(np.asarray(plain[1 if left else 0], np.float64), draws.shape)
    below = np.clip(limit, 0.0, 1.0).ravel()
    chance = below if (ufunc in _BELOW) == left else 1 - below
    holds = ledger.choose(
        np.stack([1 - chance, chance], axis=1), ufunc(*plain).ravel().astype(np.int64), draws
    )
    return holds.astype(bool).reshape(draws.shape)


def turned(ledger: Ledger, ufunc: np.ufunc, inputs: Sequence[Foreign], plain: Sequence[Foreign]) -> Foreign:
    """Bits that coins turn, `bits ^ coins`; None if it is something else."""
    if len(inputs) != 2 or ufunc not in _EITHER:
        return None
    own = 0 if getattr(inputs[0], "flips", None) is not None else 1
    coins, bits = inputs[own], plain[1 - own]
    if getattr(coins, "flips", None) is None or not getattr(inputs[1 - own], "tainted", False):
        return None
    sides = (np.full(coins.shape, side, plain[own].dtype) for side in (1, 0))
    return told(ledger, coins, *(ufunc(bits, side) for side in sides))


def told(ledger: Ledger, coins: Foreign, heads: Foreign, tails: Foreign) -> Foreign:
    """The release of `heads` where coins are true, else `tails`; None if they are not bits and opposites."""
    flips, values = coins.flips, np.ndarray.view(coins, np.ndarray)
    if np.broadcast_shapes(np.shape(heads), np.shape(tails)) != values.shape or not values.size:
        return None
    low, high = np.minimum(heads, tails), np.maximum(heads, tails)
    if not any((low == a).all() and (high == b).all() for a, b in _OPPOSITES):
        return None
    truth = values.astype(bool)
    outcome: Foreign = np.where(truth, heads, tails)
    outcome[...], truth = ledger.tell(flips, truth, outcome, np.where(truth, tails, heads))
    values[...] = truth  # what is seen of the coins from here on follows from what they told
    return outcome
