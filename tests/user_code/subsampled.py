"""Sums over a secret sample, with noise for the larger epsilon that secrecy amplifies; what goes wrong.

A changed reward costs log(1 + q (e^inner - 1)) = EPSILON, if nothing else is seen of whether it counts.
"""

import math

import numpy as np

EPSILON, Q = 1.0, 0.4
INNER = math.log1p(math.expm1(EPSILON) / Q)


def committed(rewards, total):
    """Play in turn for half of the time, and then the arm of the largest total."""
    horizon, n_arms = rewards.shape
    half = horizon // 2
    arms = np.arange(horizon) % n_arms
    totals = [total(rewards[np.arange(arm, half, n_arms), arm]) for arm in range(n_arms)]
    arms[half:] = int(np.argmax(totals))
    return arms


def loop(values, rng):
    found = 0.0
    for value in values:
        if rng.random() < Q:
            found += value
    return found + rng.laplace(0, 1 / INNER)


def goes_on(values, rng):
    found = 0.0
    for value in values:
        if rng.random() >= Q:
            continue
        found += value
    return found + rng.laplace(0, 1 / INNER)


def conditional(values, rng):
    found = 0.0
    for value in values:
        found += value if rng.random() < Q else 0.0
    return found + rng.laplace(0, 1 / INNER)


def generator(values, rng):
    return sum(value for value in values if rng.random() < Q) + rng.laplace(0, 1 / INNER)


def pairs(values, rng):
    kept = rng.random(len(values)) < Q
    return sum([v for v, keep in zip(values, kept, strict=True) if keep]) + rng.laplace(0, 1 / INNER)


def times(values, rng):
    return sum(value * (rng.random() < Q) for value in values) + rng.laplace(0, 1 / INNER)


def masked(values, rng):
    return values[rng.random(len(values)) < Q].sum() + rng.laplace(0, 1 / INNER)


def clipped(values, rng):
    kept = values[rng.random(len(values)) < Q]
    return (np.sum(2.0 * np.clip(kept, 0, 1)) + rng.laplace(0, 2 / INNER)) / Q


def both(values, rng):
    kept = rng.random(len(values)) < Q
    return values[kept & (np.arange(len(values)) < 100)].sum() + rng.laplace(0, 1 / INNER)


def product(values, rng):
    kept = (rng.random(len(values)) < Q).astype(float)
    return np.sum(values * kept) + rng.laplace(0, 1 / INNER)


def inner_product(values, rng):
    return float(np.dot(values, rng.random(len(values)) < Q)) + rng.laplace(0, 1 / INNER)


def where(values, rng):
    return np.sum(values, where=rng.random(len(values)) < Q) + rng.laplace(0, 1 / INNER)


FEW = math.log1p(math.expm1(EPSILON) * 3)  # two of six


def drawn(values, rng):
    return values[rng.choice(len(values), 2, replace=False)].sum() + rng.laplace(0, 1 / FEW)


def drawn_values(values, rng):
    return np.sum(rng.choice(values, size=2, replace=False)) + rng.laplace(0, 1 / FEW)


def drawn_mean(values, rng):
    index = rng.choice(len(values), 2, replace=False)
    kept = np.clip(values, 0.0, 1.0)[index]
    return np.mean(kept) + rng.laplace(0, 1 / (len(kept) * FEW))


def in_order(values, rng):
    first = np.argsort(rng.random((1, len(values))), axis=1)[:, :2]
    return float((values[first].sum(axis=1) + rng.laplace(0, 1 / FEW, 1))[0])


def partitioned(values, rng):
    return values[np.argpartition(rng.random(len(values)), 2)[:2]].sum() + rng.laplace(0, 1 / FEW)


def drawn_and_told(values, rng):
    """Which ones were drawn shows in the noise."""
    index = rng.choice(len(values), 2, replace=False)
    return values[index].sum() + rng.laplace(0, 1 / FEW) + 100 * index[0]


def told_and_drawn(values, rng):
    keys = rng.random(len(values))
    index = np.argsort(keys)[:2]
    total = values[index].sum() + rng.laplace(0, 1 / FEW)
    return total + 100 * (keys[0] < 0.5)


def drawn_twice(values, rng):
    """Two noisy sums of two draws of one order."""
    order = np.argsort(rng.random(len(values)))
    one, other = (values[order[:many]].sum() + rng.laplace(0, 1 / FEW) for many in (2, 3))
    return one + 100 * other


def drawn_unlike(values, rng):
    """What one entry changes is not what another one in its place does: this is not followed."""
    weighted = values * np.array([0.5, *[1.0] * (len(values) - 1)])
    return weighted[rng.choice(len(values), 2, replace=False)].sum() + rng.laplace(0, 1 / FEW)


def partitioned_elsewhere(values, rng):
    return values[np.argpartition(rng.random(len(values)), 4)[:2]].sum() + rng.laplace(0, 1 / FEW)


def drawn_with_noise_for_all(values, rng):
    """As if two of six counted in all six places."""
    return values[rng.choice(len(values), 4, replace=False)].sum() + rng.laplace(0, 1 / FEW)


def counted(values, rng):
    """How many were kept sets the noise."""
    kept = rng.random(len(values)) < Q
    return values[kept].sum() + rng.laplace(0, 1 / INNER) * (1 + (kept.sum() > 2))


def size(values, rng):
    """How many were kept is not secret."""
    kept = values[rng.random(len(values)) < Q]
    return (kept.sum() + rng.laplace(0, 1 / INNER)) / max(len(kept), 1)


def again(values, rng):
    """Two noisy sums of one sample."""
    kept = values[rng.random(len(values)) < Q]
    return kept.sum() + rng.laplace(0, 1 / INNER) + (kept.sum() + rng.laplace(0, 1 / INNER))


def one_coin(values, rng):
    """One coin for all of them."""
    kept = np.full(len(values), rng.random() < Q)
    return values[kept].sum() + rng.laplace(0, 1 / INNER)


def also_all(values, rng):
    """Those that are not in the sample count, too, by half."""
    kept = rng.random(len(values)) < Q
    return values[kept].sum() + rng.laplace(0, 1 / INNER) + (values.sum() / 2 + rng.laplace(0, 1 / INNER))


def not_kept(values, rng):
    """Nearly all of them are kept."""
    return values[rng.random(len(values)) >= Q / 4].sum() + rng.laplace(0, 1 / INNER)


def no_noise(values, rng):
    return values[rng.random(len(values)) < Q].sum()


def raw_chance(values, rng):
    """What is kept depends on what it is."""
    kept = rng.random(len(values)) < values
    return values[kept].sum() + rng.laplace(0, 1 / INNER)


def _player(total):
    def play(rewards, rng):
        return committed(rewards, lambda values: total(values, rng))

    return play


RIGHT = {
    f.__name__: _player(f)
    for f in (
        *(loop, goes_on, conditional, generator, pairs, times, masked, clipped, both, product),
        *(inner_product, where, drawn, drawn_values, drawn_mean, in_order, partitioned),
    )
}
WRONG = {
    f.__name__: _player(f)
    for f in (
        *(counted, size, again, one_coin, also_all, not_kept, no_noise, raw_chance, drawn_and_told),
        *(told_and_drawn, drawn_twice, drawn_unlike, partitioned_elsewhere, drawn_with_noise_for_all),
    )
}
