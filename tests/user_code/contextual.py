"""Bandits with contexts as users write them: LinUCB without noise, with enough of it, and with each flaw.

Contexts are those of the arms, (T, K, d). Where noise is enough, each user's round has its own Laplace noise
on the upper triangle of x x' and on r x, whose L1 sensitivity is bounded for contexts of norm 1 and rewards
in [0, 1]: epsilon-joint-DP. The user's own action is taken with the raw contexts of its own round.
"""

import numpy as np

EPSILON = 1.0


class LinUCB:
    """A model for each arm, one context a round; no noise."""

    def __init__(self, n_arms, d, alpha=1.0):
        self.A = [np.eye(d) for _ in range(n_arms)]
        self.b = [np.zeros(d) for _ in range(n_arms)]
        self.alpha = alpha

    def select(self, context):
        scores = []
        for A, b in zip(self.A, self.b, strict=True):
            inverse = np.linalg.inv(A)
            scores.append(context @ inverse @ b + self.alpha * np.sqrt(context @ inverse @ context))
        return int(np.argmax(scores))

    def update(self, context, arm, reward):
        self.A[arm] = self.A[arm] + np.outer(context, context)
        self.b[arm] = self.b[arm] + reward * context


def _noise(rng, scale, d):
    """Symmetric noise on a Gram matrix."""
    upper = np.triu(rng.laplace(0.0, scale, (d, d)))
    return upper + np.triu(upper, 1).T


def _played(contexts, rewards, rng, *, gram=1.0, moment=1.0, clip=None, replay=False, ties=False):
    """LinUCB in which every round is released with noise; its scales are divided by `gram` and `moment`."""
    horizon, _, d = contexts.shape
    # |x x'|_1 on and above the diagonal, and |r x|_1; a user replaced moves by twice that.
    parts = (d + 1) / 2, np.sqrt(d)
    scales = [2 * 2 * part / EPSILON for part in parts]
    ridge = 3.0 * horizon if gram else 1.0  # what keeps the noisy matrix definite
    V, u, last, actions = ridge * np.eye(d), np.zeros(d), None, []
    for x, paid in zip(contexts, rewards, strict=True):
        if clip is not None:
            x = x / np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True) / clip)
        bonus = 2.0 * np.sqrt(np.sum((x @ np.linalg.inv(V @ V)) * x, axis=1))
        score = x @ np.linalg.solve(V, u) + 20 * bonus
        if replay and last is not None:
            score = score + x @ last[0] * last[1]
        arm = int(np.argmax(score))
        actions.append(arm)
        V = V + np.outer(x[arm], x[arm]) + (_noise(rng, scales[0] / gram, d) if gram else 0.0)
        u = u + paid[arm] * x[arm] + (rng.laplace(0.0, scales[1] / moment, d) if moment else 0.0)
        last = x[arm], paid[arm]
    return actions


def right(contexts, rewards, rng):
    return _played(contexts, rewards, rng, clip=1.0)


def unclipped(contexts, rewards, rng):
    """Right for contexts of norm 1 only."""
    return _played(contexts, rewards, rng)


def gram_without_noise(contexts, rewards, rng):
    return _played(contexts, rewards, rng, gram=0.0)


def little_noise(contexts, rewards, rng):
    return _played(contexts, rewards, rng, gram=12.0, moment=12.0)


def replayed(contexts, rewards, rng):
    """The next user's scores see the raw context and reward of the last."""
    return _played(contexts, rewards, rng, replay=True)


def without_noise(contexts, rewards, rng):
    return _played(contexts, rewards, rng, gram=0.0, moment=0.0)


def ignoring(contexts, rewards, rng):
    """Chance alone."""
    return rng.integers(0, rewards.shape[1], len(rewards))
