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
