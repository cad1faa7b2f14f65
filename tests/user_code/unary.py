"""Rewards as one hot bit of four, each bit reported by a coin of its own, as users write it; what goes wrong.

`RIGHT` cost EPSILON: a reward that is replaced moves at most two of the bits. `WRONG` cost more.
"""

import numpy as np

EPSILON = 2.0
BINS = 4
FLIP = 1 / (1 + np.exp(EPSILON / 2))
SELDOM = 1 / (1 + np.exp(EPSILON))
CENTRES = (np.arange(BINS) + 0.5) / BINS
GRADES = [0.0, 0.5, 2.0, 1.0]


def _level(reward):
    return min(int(reward * BINS), BINS - 1)


def learner(report):
    def play(rewards, rng):
        horizon, n_arms = rewards.shape
        sums, pulls, actions = np.zeros(n_arms), np.zeros(n_arms), []
        for t in range(horizon):
            arm = t % n_arms if t < 2 * n_arms else int(np.argmax(sums / pulls))
            sums[arm] += report(rewards[t, arm], rng)
            pulls[arm] += 1
            actions.append(arm)
        return np.array(actions)

    return play


def compared(reward, rng):
    hot = np.arange(BINS) == _level(reward)
    return (hot ^ (rng.random(BINS) < FLIP)) @ CENTRES


def kept_by_coins(reward, rng):
    hot = np.arange(BINS) == _level(reward)
    return (hot ^ (rng.random(BINS) >= 1 - FLIP)) @ CENTRES


def written_in(reward, rng):
    hot = np.zeros(BINS, dtype=bool)
    hot[_level(reward)] = True
    return np.where(rng.random(BINS) < FLIP, ~hot, hot) @ CENTRES


def row_of_a_unit_matrix(reward, rng):
    level = _level(reward)
    hot = np.eye(BINS)[level]
    return (rng.random(BINS) < np.where(hot == 1, 1 - FLIP, FLIP)) @ CENTRES


def bit_by_bit(reward, rng):
    level = _level(reward)
    bits = [int(place == level) for place in range(BINS)]
    return sum(c * (b if rng.random() < 1 - FLIP else 1 - b) for b, c in zip(bits, CENTRES, strict=True))


def optimised(reward, rng, flip=SELDOM):
    """A hot bit is told by a fair coin, a cold one is hot seldom (Wang, Blocki, Li & Jha, 2017)."""
    chance = np.where(np.arange(BINS) == _level(reward), 0.5, flip)
    return (rng.random(BINS) < chance) @ CENTRES


def grade(reward, rng, scale=2.0 / EPSILON):
    return GRADES[_level(reward)] + rng.laplace(0, scale)


def told_twice(reward, rng):
    return compared(reward, rng) + compared(reward, rng)


def two_levels(reward, rng):
    coarse = np.arange(2) == min(int(reward * 2), 1)
    return compared(reward, rng) + (coarse ^ (rng.random(2) < FLIP)).sum()


def thermometer(reward, rng):
    hot = np.arange(BINS) <= _level(reward)
    return (hot ^ (rng.random(BINS) < FLIP)) @ CENTRES


def one_coin_for_both(reward, rng):
    """Each bit pays EPSILON."""
    hot = np.arange(BINS) == _level(reward)
    return (hot ^ (rng.random(BINS) < 1 / (1 + np.exp(EPSILON)))) @ CENTRES


def optimised_wrongly(reward, rng):
    return optimised(reward, rng, 1 / (1 + np.exp(1.5 * EPSILON)))


def two_hot_bits(reward, rng):
    hot = np.zeros(BINS, dtype=bool)
    hot[_level(reward)] = True
    hot[min(int(reward * 3), 2)] = True
    return (hot ^ (rng.random(BINS) < FLIP)) @ CENTRES


def grade_of_half_the_range(reward, rng):
    return grade(reward, rng, 1.0 / EPSILON)


RIGHT = {
    f.__name__: learner(f)
    for f in (compared, kept_by_coins, written_in, row_of_a_unit_matrix, bit_by_bit, optimised)
}
WRONG = {
    f.__name__: learner(f)
    for f in (
        *(told_twice, two_levels, thermometer, one_coin_for_both, optimised_wrongly, two_hot_bits),
        grade_of_half_the_range,
    )
}
