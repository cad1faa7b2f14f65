"""Code that is text: an audit follows all files beside it, so that it has a folder to itself."""

import numpy as np


def _sums(rewards):
    horizon, k = rewards.shape
    half = horizon // 2
    return np.array([rewards[a:half:k, a].sum() for a in range(k)])


def _played(rewards, arm):
    horizon, k = rewards.shape
    half = horizon // 2
    return np.r_[np.arange(half) % k, np.full(horizon - half, arm)]


def _usual(sums, rng):
    return int(np.argmax(sums + rng.laplace(0, 1.0, 2)))


def evaluated(rewards, rng):
    return _played(rewards, eval("_usual")(_sums(rewards), rng))
