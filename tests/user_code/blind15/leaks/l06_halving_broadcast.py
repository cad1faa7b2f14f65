"""Sequential halving with noisy sums, all runs at once.

Stage one pulls all arms equally and keeps the best half (by noisy sum), stage two
does the same with fresh pulls among the kept arms, and the winner is played to the
end.  Each stage's sums get Laplace(1/epsilon) noise in every run.
Claims epsilon = 1.0 (pure).
"""
import numpy as np

EPSILON = 1.0


def noisy_ranking(sums, rng):
    """Positions of the columns from best to worst."""
    noise = rng.laplace(0.0, 1.0 / EPSILON, size=(sums.shape[0], 1))
    return np.argsort(-(sums + noise), axis=1, kind="stable")


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    stages = max(1, int(np.ceil(np.log2(K))))
    budget = T * 3 // 4 // stages
    start = np.argsort(rng.random((n_runs, K)), axis=1)      # shuffled seeding
    alive, t = start, 0
    out = np.zeros((n_runs, T), dtype=int)
    for _ in range(stages):
        width = alive.shape[1]
        sums = np.zeros((n_runs, width))
        for _ in range(max(1, budget // width)):
            for j in range(width):
                out[:, t] = alive[:, j]
                sums[:, j] += rewards[t, alive[:, j]]
                t += 1
        order = noisy_ranking(sums, rng)[:, : (width + 1) // 2]
        alive = np.take_along_axis(alive, order, axis=1)
    out[:, t:] = alive[:, :1]
    return out
