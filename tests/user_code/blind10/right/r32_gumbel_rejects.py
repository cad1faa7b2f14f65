"""Successive rejects with the exponential mechanism (Gumbel trick), all runs at once.

In round r each surviving arm is pulled M times and the arm to drop is drawn with weight exp(-EPSILON s_i), where s_i is
the fresh sum of this round alone.  A reward enters one sum of one round.  If one s_i moves by d in [-1, 1], its weight
moves by a factor in [e^-EPSILON, e^EPSILON], the others stay, and the normaliser moves in the same direction by no more:
the chance of i and the chances of the others all change by a factor within e^{+-EPSILON}.  Later rounds use other
rewards; the final stretch ignores its rewards.  Hence EPSILON for the whole sequence (arg max of score + Gumbel is
exactly the exponential mechanism).  Nearly tight when s_i is far above the others.
"""
import numpy as np

EPSILON = 1.5
M = 4


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    actions = np.empty((n_runs, T), dtype=int)
    alive = np.tile(np.arange(K), (n_runs, 1))
    t = 0
    while alive.shape[1] > 1 and t + M * alive.shape[1] <= T:
        width = alive.shape[1]
        sums = np.zeros((n_runs, width))
        for _ in range(M):
            for c in range(width):
                actions[:, t] = alive[:, c]
                sums[:, c] += rewards[t, alive[:, c]]
                t += 1
        drop = np.argmax(-EPSILON * sums + rng.gumbel(size=sums.shape), axis=1)
        keep = np.arange(width)[None, :] != drop[:, None]
        alive = alive[keep].reshape(n_runs, width - 1)
    # survivors in turn, without looking at the rewards any more
    for j in range(t, T):
        actions[:, j] = alive[:, (j - t) % alive.shape[1]]
    return actions
