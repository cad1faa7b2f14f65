"""Twelve linear policies (directions of the plane).  30 rounds of uniformly random arms (public coins, nothing of the
context in them); the score of a policy is the sum of rewards where it agrees with the coin.  One user moves every score
by at most 1, so exp(eps * score / 2) is eps-DP.  After that the chosen policy acts on each user's own context.
"""
import numpy as np

ANGLES = np.arange(12) * np.pi / 6
DIRECTIONS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


def decide(context):
    """What each policy would do: (12,) arms."""
    return np.argmax(DIRECTIONS @ context.T, axis=1)


def play(contexts, rewards, rng):
    T, K, _ = contexts.shape
    coins = rng.integers(K, size=30)
    score = np.zeros(len(DIRECTIONS))
    for t, a in enumerate(coins):
        score[decide(contexts[t]) == a] += rewards[t, a]
    z = 1.5 * score / 2 + rng.gumbel(size=len(score))
    chosen = int(np.argmax(z))
    rest = [decide(contexts[t])[chosen] for t in range(30, T)]
    return np.concatenate([coins, rest]).astype(int)
