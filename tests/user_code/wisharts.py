"""Bandits with contexts on matrices with symmetric noise, as users write it, and their twins that leak.

Each releases the Gram matrix of (x, r) every `PHASE` rounds, and forgets; contexts have norm 1, rewards lie
in [0, 1], so that |(x, r)|^2 <= 2. The user's own action follows from the raw context.
"""

import numpy as np
from scipy import stats

PHASE, FREEDOM, SCALE, SIGMA = 3, 60, 1.0, 12.0


def clipped(x):
    return x / max(1.0, np.linalg.norm(x))


def choice(each, matrix):
    d = len(matrix) - 1
    gram = matrix[:d, :d] + 5 * np.eye(d)
    theta = np.linalg.solve(gram, matrix[:d, d])
    widths = np.sqrt(np.maximum(np.einsum("ki,ij,kj->k", each, np.linalg.inv(gram), each), 0.0))
    return int(np.argmax(each @ theta + widths))


def phased(contexts, rewards, noise, clip=clipped, every=None):
    """Joint matrices of each phase; `every` adds what is not hidden."""
    horizon, _, d = contexts.shape
    seen, exact, arms = np.eye(d + 1), np.zeros((d + 1, d + 1)), []
    for t in range(horizon):
        arm = choice(contexts[t], seen if every is None else every(seen, exact))
        z = np.append(clip(contexts[t, arm]), rewards[t, arm])
        exact = exact + np.outer(z, z)
        arms.append(arm)
        if (t + 1) % PHASE == 0:
            seen, exact = exact + noise(d + 1), np.zeros((d + 1, d + 1))
    return arms


def by_rows(contexts, rewards, rng, freedom=FREEDOM, clip=clipped):
    """G'G of a normal matrix."""

    def noise(size):
        rows = rng.normal(0.0, SCALE, (freedom, size))
        return rows.T @ rows - freedom * SCALE**2 * np.eye(size)

    return phased(contexts, rewards, noise, clip)


def by_scipy(contexts, rewards, rng):
    def noise(size):
        return stats.wishart(df=FREEDOM, scale=SCALE**2 * np.eye(size)).rvs(random_state=rng)

    return phased(contexts, rewards, noise)


def by_scipy_at_once(contexts, rewards, rng):
    return phased(contexts, rewards, lambda size: stats.wishart.rvs(FREEDOM, np.eye(size), random_state=rng))


def beside_normal(contexts, rewards, rng):
    """The Gram matrix of x beneath Wishart noise, r x beneath normal noise."""
    horizon, _, d = contexts.shape
    gram, vector, arms = np.zeros((d, d)), np.zeros(d), []
    for t in range(horizon):
        theta = np.linalg.solve(gram + 5 * np.eye(d), vector)
        arm = int(np.argmax(contexts[t] @ theta))
        x = clipped(contexts[t, arm])
        rows = SCALE * rng.standard_normal((FREEDOM, d))
        gram = gram + np.outer(x, x) + np.dot(rows.T, rows)
        vector = vector + rewards[t, arm] * x + rng.normal(0, SIGMA, d)
        arms.append(arm)
    return arms


def on_tree(contexts, rewards, rng, inner=1.0):
    """A binary tree over the users; every node has noise of its own."""
    horizon, _, d = contexts.shape
    levels = horizon.bit_length()
    exact, noisy = np.zeros((levels, d + 1, d + 1)), np.zeros((levels, d + 1, d + 1))
    arms = []
    for t in range(horizon):
        arm = choice(contexts[t], noisy.sum(axis=0) + np.eye(d + 1))
        z = np.append(clipped(contexts[t, arm]), rewards[t, arm])
        level = ((t + 1) & -(t + 1)).bit_length() - 1
        exact[level] = np.outer(z, z) + exact[:level].sum(axis=0)
        exact[:level] = noisy[:level] = 0.0
        rows = rng.normal(size=(FREEDOM, d + 1))
        noisy[level] = exact[level] + (1.0 if level == 0 else inner) * (rows.T @ rows)
        arms.append(arm)
    return arms


def few_degrees(contexts, rewards, rng):
    return by_rows(contexts, rewards, rng, freedom=12)


def too_few_degrees(contexts, rewards, rng):
    """Fewer than leave the densities a bounded ratio."""
    return by_rows(contexts, rewards, rng, freedom=4)


def unclipped(contexts, rewards, rng):
    return by_rows(contexts, rewards, rng, clip=lambda x: x)


def leaves_only(contexts, rewards, rng):
    return on_tree(contexts, rewards, rng, inner=0.0)


def same_noise_twice(contexts, rewards, rng):
    """The difference of two releases is exact."""
    kept = []

    def noise(size):
        if not kept:
            rows = rng.normal(0.0, SCALE, (FREEDOM, size))
            kept.append(rows.T @ rows)
        return kept[0]

    return phased(contexts, rewards, noise)


def rows_are_told(contexts, rewards, rng):
    """What the noise was made of decides the first arm."""
    first = []

    def noise(size):
        rows = rng.normal(0.0, SCALE, (FREEDOM, size))
        first.append(int(rows[0, 0] > 0))
        return rows.T @ rows

    arms = phased(contexts, rewards, noise)
    return [first[0], *arms[1:]]


def own_scores_of_others(contexts, rewards, rng):
    """What was not released yet enters the scores of the next users."""

    def noise(size):
        rows = rng.normal(0.0, SCALE, (FREEDOM, size))
        return rows.T @ rows

    return phased(contexts, rewards, noise, every=lambda seen, exact: seen + 0.01 * exact)


def other_generator(contexts, rewards, rng):
    """The noise is the same in all runs."""
    return phased(contexts, rewards, lambda size: stats.wishart(FREEDOM, np.eye(size)).rvs(random_state=7))


# ---------------------------------------------------------------- symmetric normal noise


def mirrored(contexts, rewards, rng, sigma=SIGMA):
    def noise(size):
        upper = np.triu(rng.normal(0, sigma, (size, size)))
        return upper + np.triu(upper, 1).T

    return phased(contexts, rewards, noise)


def by_indices(contexts, rewards, rng):
    def noise(size):
        made = np.zeros((size, size))
        made[np.tril_indices(size)] = rng.normal(0, SIGMA, size * (size + 1) // 2)
        return made + made.T - np.diag(np.diag(made))

    return phased(contexts, rewards, noise)


def averaged(contexts, rewards, rng, sigma=SIGMA):
    """(N + N') / sqrt 2: twice the variance on the diagonal."""

    def noise(size):
        made = rng.normal(0, sigma, (size, size))
        return (made + made.T) / np.sqrt(2)

    return phased(contexts, rewards, noise)


def entry_by_entry(contexts, rewards, rng):
    def noise(size):
        made = np.zeros((size, size))
        for i in range(size):
            for j in range(i, size):
                made[i, j] = made[j, i] = SIGMA * rng.standard_normal()
        return made

    return phased(contexts, rewards, noise)


def for_norm_one(contexts, rewards, rng):
    """Normal noise for items of norm 1, with items of norm 2."""
    return averaged(contexts, rewards, rng, sigma=SIGMA / 2)


# ---------------------------------------------------------------- plain privacy: all actions are seen


def by_chance(contexts, rewards, rng, shown=4.0, size=1.0):
    """The own action is drawn by the exponential mechanism; the sums of r x are released with noise."""
    horizon, _, d = contexts.shape
    theta, arms = np.zeros(d), []
    for t in range(horizon):
        fits = np.clip(contexts[t] @ theta, -1.0, 1.0)
        chances = np.exp(fits / shown)  # they move by 2: 2 * 2 / shown
        arm = int(rng.choice(len(fits), p=chances / chances.sum()))
        arms.append(arm)
        x = clipped(contexts[t, arm])
        theta = theta + rewards[t, arm] * x + rng.laplace(0, 2 * np.sqrt(d) * size, d)
    return arms


def little_chance(contexts, rewards, rng):
    return by_chance(contexts, rewards, rng, shown=1.0)


def own_in_clear(contexts, rewards, rng):
    """Right under joint privacy."""
    horizon, _, d = contexts.shape
    theta, arms = np.zeros(d), []
    for t in range(horizon):
        arm = int(np.argmax(contexts[t] @ theta))
        arms.append(arm)
        theta = theta + rewards[t, arm] * clipped(contexts[t, arm]) + rng.laplace(0, 2 * np.sqrt(d), d)
    return arms
