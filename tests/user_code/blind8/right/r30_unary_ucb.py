"""Many runs of UCB at once, learning from symmetric unary encodings of the rewards.

A reward falls in one of four bins and becomes a one-hot vector of four bits; every bit is flipped on its own with
probability 1 / (1 + e^(EPSILON/2)).  Changing the reward changes at most two bits of the one-hot vector, and each costs
a factor of at most e^(EPSILON/2): EPSILON in all.  One report per reward, the learner sees reports only.
"""
import numpy as np

EPSILON = 2.0
BINS = 4
FLIP = 1.0 / (1.0 + np.exp(EPSILON / 2.0))
CENTRES = (np.arange(BINS) + 0.5) / BINS


def encode(x, rng):
    onehot = np.minimum((x * BINS).astype(int), BINS - 1)[:, None] == np.arange(BINS)
    return onehot ^ (rng.random(onehot.shape) < FLIP)


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    total = np.zeros((n_runs, K))
    pulls = np.zeros((n_runs, K))
    out = np.empty((n_runs, T), dtype=int)
    run = np.arange(n_runs)
    for t in range(T):
        with np.errstate(divide="ignore", invalid="ignore"):
            index = np.where(pulls > 0, total / pulls + np.sqrt(0.5 * np.log(t + 1.0) / pulls), np.inf)
        arm = index.argmax(axis=1)
        out[:, t] = arm
        bits = encode(rewards[t, arm], rng)
        value = ((bits - FLIP) / (1.0 - 2.0 * FLIP)) @ CENTRES
        total[run, arm] += value
        pulls[run, arm] += 1
    return out
