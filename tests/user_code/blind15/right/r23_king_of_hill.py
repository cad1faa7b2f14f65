"""King of the hill: the champion meets each other arm in a duel of fresh rewards.

Claims epsilon = 0.8, pure. A duel gives six pulls to each side; the challenger takes over when
(challenger sum - champion sum) + Laplace(1/epsilon) > 0. Rewards of a duel are not used again.
"""
import numpy as np

K, T, EPS, PULLS = 4, 60, 0.8, 6


def inverse_laplace(u, scale):
    centred = u - 0.5
    return -scale * np.sign(centred) * np.log1p(-2.0 * np.minimum(np.abs(centred), 0.5 - 1e-16))


def play_many(rewards, n_runs, rng):
    rewards = np.asarray(rewards, float)
    actions = np.zeros((n_runs, T), dtype=np.int64)
    champion = np.zeros(n_runs, dtype=np.int64)
    t = 0
    for challenger in range(1, K):
        margin = np.zeros(n_runs)
        for _ in range(PULLS):
            actions[:, t] = champion
            margin -= rewards[t, champion]
            actions[:, t + 1] = challenger
            margin += rewards[t + 1, challenger]
            t += 2
        noisy = margin + inverse_laplace(rng.random(n_runs), 1.0 / EPS)
        champion = np.where(noisy > 0, challenger, champion)
    actions[:, t:] = champion[:, None]
    return actions
