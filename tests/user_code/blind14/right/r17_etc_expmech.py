"""Two epochs of explore-then-commit; the arm to commit to comes from the
exponential mechanism.  K = 5, T = 50, epsilon = 2 (pure).

One reward moves the score (sum of the explored rewards) of a single arm by at
most one, so the weights may be exp(epsilon * score).  Epochs share no data.
"""
import numpy as np

K, T, EPS = 5, 50, 2.0
EPOCH = 25
PULLS = 3


def _exponential_mechanism(scores, eps, rng):
    logits = eps * scores
    logits -= logits.max(axis=1, keepdims=True)
    weights = np.exp(logits)
    cdf = np.cumsum(weights, axis=1)
    u = rng.random((scores.shape[0], 1)) * cdf[:, -1:]
    return np.minimum((u >= cdf).sum(axis=1), scores.shape[1] - 1)


def play_many(rewards, n_runs, rng):
    actions = np.empty((n_runs, T), dtype=np.int64)
    slots = np.repeat(np.arange(K), PULLS)
    for start in range(0, T, EPOCH):
        explore_rounds = start + np.arange(K * PULLS)
        order = rng.permuted(np.tile(slots, (n_runs, 1)), axis=1)
        seen = rewards[explore_rounds[None, :], order]
        scores = np.zeros((n_runs, K))
        for a in range(K):
            scores[:, a] = np.where(order == a, seen, 0.0).sum(axis=1)
        chosen = _exponential_mechanism(scores, EPS, rng)
        actions[:, explore_rounds] = order
        actions[:, start + K * PULLS:start + EPOCH] = chosen[:, None]
    return actions
