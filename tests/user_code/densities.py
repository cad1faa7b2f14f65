"""Rewards reported by numbers whose density depends on them, as users write it; what goes wrong.

`RIGHT` cost EPSILON. `WRONG` cost more, by what is said of each.
"""

import math

import numpy as np

EPSILON = 1.0
HALF = math.exp(EPSILON / 2)
C = (HALF + 1) / (HALF - 1)
WIDTH = 0.3
NEAR = 2 * WIDTH * math.exp(EPSILON) / (2 * WIDTH * math.exp(EPSILON) + 1)


def learnt(rewards, report):
    horizon, n_arms = rewards.shape
    sums, pulls, actions = np.zeros(n_arms), np.zeros(n_arms), []
    for t in range(horizon):
        arm = t % n_arms if t < 2 * n_arms else int(np.argmax(sums / pulls))
        sums[arm] += report(rewards[t, arm])
        pulls[arm] += 1
        actions.append(arm)
    return np.array(actions)


def piecewise(reward, rng):
    """Wang and others' mechanism (ICDE 2019)."""
    x = 2.0 * reward - 1.0
    left = (C + 1) / 2 * x - (C - 1) / 2
    right = left + C - 1
    if rng.random() < HALF / (HALF + 1):
        return rng.uniform(left, right)
    u = rng.uniform(0.0, C + 1.0)
    return -C + u if u < left + C else right + (u - (left + C))


def square_wave(rng, reward):
    """Li and others' mechanism (SIGMOD 2020)."""
    reward = min(max(float(reward), 0.0), 1.0)
    if rng.random() < NEAR:
        return reward - WIDTH + 2 * WIDTH * rng.random()
    u = rng.random()
    if u < reward:
        return u - WIDTH
    return u + WIDTH


def with_half(reward, half, rng):
    """`piecewise` for twice the logarithm of `half`."""
    c = (half + 1) / (half - 1)
    x = np.clip(2 * reward - 1, -1, 1)
    left = (c + 1) / 2 * x - (c - 1) / 2
    if rng.random() * (half + 1) < half:
        return left + (c - 1) * rng.random()
    u = rng.random() * (c + 1)
    if u >= left + c:
        return u - 1.0
    return u - c


def everywhere(reward, rng):
    """The rest of the draws hit the middle, too: log(1 + H (H + 1)), H = e^(epsilon / 2)."""
    x = 2.0 * reward - 1.0
    left = (C + 1) / 2 * x - (C - 1) / 2
    if rng.random() < HALF / (HALF + 1):
        return rng.uniform(left, left + C - 1)
    return rng.uniform(-C, C)


def only_near(reward, rng):
    """Without the rest of the range: infinite."""
    return rng.uniform(reward - WIDTH, reward + WIDTH) if rng.random() < NEAR else rng.uniform(0.0, 1.0)


def one_side(reward, rng):
    """Whatever lies above comes out where it was: infinite, for some numbers are not reached from below."""
    if rng.random() < 0.5:
        return rng.random()
    u = rng.random()
    return u if u < reward else u + 1.0


def looks(reward, rng):
    """Noise for small rewards only: infinite."""
    if reward > 0.5:
        return reward
    return rng.uniform(-C, C)


def play_piecewise(rewards, rng):
    return learnt(rewards, lambda reward: piecewise(reward, rng))


def play_square_wave(rewards, rng):
    return learnt(rewards, lambda reward: square_wave(rng, reward=reward))


def play_with_half(rewards, rng):
    return learnt(rewards, lambda reward: with_half(reward, half=HALF, rng=rng))


class Learner:
    def __init__(self, n_arms, rng):
        self.rng, self.totals, self.counts = rng, np.zeros(n_arms), np.zeros(n_arms)

    def select(self):
        return int(np.argmax((self.totals + 1) / (self.counts + 1) + 1 / np.sqrt(self.counts + 1)))

    def _reported(self, reward):
        if self.rng.random() < NEAR:
            return reward + self.rng.uniform(-WIDTH, WIDTH)
        u = self.rng.random()
        return u - WIDTH if u < reward else u + WIDTH

    def update(self, arm, reward):
        self.totals[arm] += self._reported(reward)
        self.counts[arm] += 1


def play_method(rewards, rng):
    learner, actions = Learner(rewards.shape[1], rng), []
    for row in rewards:
        actions.append(learner.select())
        learner.update(actions[-1], row[actions[-1]])
    return np.array(actions)


def play_whole_epsilon(rewards, rng):
    return learnt(rewards, lambda reward: with_half(reward, HALF**2, rng))


def play_twice(rewards, rng):
    return learnt(rewards, lambda reward: piecewise(reward, rng) + piecewise(reward, rng))


def play_everywhere(rewards, rng):
    return learnt(rewards, lambda reward: everywhere(reward, rng))


def play_only_near(rewards, rng):
    return learnt(rewards, lambda reward: only_near(reward, rng))


def play_one_side(rewards, rng):
    return learnt(rewards, lambda reward: one_side(reward, rng))


def play_looks(rewards, rng):
    return learnt(rewards, lambda reward: looks(reward, rng))


RIGHT = {
    "piecewise": play_piecewise,
    "square wave": play_square_wave,
    "a parameter, other forms": play_with_half,
    "method": play_method,
}
WRONG = {
    "epsilon for its half": (play_whole_epsilon, 2 * EPSILON),
    "two reports": (play_twice, 2 * EPSILON),
    "the middle twice": (play_everywhere, math.log1p(HALF * (HALF + 1))),
    "no rest": (play_only_near, math.inf),
    "one side": (play_one_side, math.inf),
    "raw branch": (play_looks, math.inf),
}


# Rewards as one hot bit of four, each bit reported by a coin of its own, as users write it; what goes wrong.
#
# `RIGHT` cost EPSILON: a reward that is replaced moves at most two of the bits. `WRONG` cost more.


EPSILON_OF_BITS = 2.0
BINS = 4
FLIP = 1 / (1 + np.exp(EPSILON_OF_BITS / 2))
SELDOM = 1 / (1 + np.exp(EPSILON_OF_BITS))
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


def grade(reward, rng, scale=2.0 / EPSILON_OF_BITS):
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
    return (hot ^ (rng.random(BINS) < 1 / (1 + np.exp(EPSILON_OF_BITS)))) @ CENTRES


def optimised_wrongly(reward, rng):
    return optimised(reward, rng, 1 / (1 + np.exp(1.5 * EPSILON_OF_BITS)))


def two_hot_bits(reward, rng):
    hot = np.zeros(BINS, dtype=bool)
    hot[_level(reward)] = True
    hot[min(int(reward * 3), 2)] = True
    return (hot ^ (rng.random(BINS) < FLIP)) @ CENTRES


def grade_of_half_the_range(reward, rng):
    return grade(reward, rng, 1.0 / EPSILON_OF_BITS)


BITS = {
    f.__name__: learner(f)
    for f in (compared, kept_by_coins, written_in, row_of_a_unit_matrix, bit_by_bit, optimised)
}
WRONG_BITS = {
    f.__name__: learner(f)
    for f in (
        *(told_twice, two_levels, thermometer, one_coin_for_both, optimised_wrongly, two_hot_bits),
        grade_of_half_the_range,
    )
}
