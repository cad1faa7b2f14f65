"""Rounds of probes with the round winner drawn by Gumbel noise."""
import numpy as np

EPSILON = 0.5
PROBES = 2
REWARD_ROUNDS = 5


def gumbel_argmax(scores, rng):
    return int(np.argmax(scores + rng.gumbel(loc=0.0, scale=EPSILON / 2, size=scores.size)))


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    blocks = []
    t = 0
    while t < horizon:
        probe = np.tile(np.arange(n_arms), PROBES)[: horizon - t]
        seen = rewards[t + np.arange(probe.size), probe]
        blocks.append(probe)
        t += probe.size
        winner = gumbel_argmax(np.bincount(probe, seen, n_arms), rng)
        blocks.append(np.full(min(REWARD_ROUNDS, horizon - t), winner))
        t += blocks[-1].size
    return np.concatenate(blocks)
