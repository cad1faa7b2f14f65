"""Arms compared by private medians.

Candidates 0, .1, ..., 1; utility of g: -|#{x < g} - n/2|.  Replacing one reward moves each utility by at most 1, any
number of them at once, so exp(eps * u / 2).  Each arm has its own rewards, one median each: parallel, eps in all.
Ties of medians go to a fair coin.
"""
import numpy as np

GRID = np.linspace(0, 1, 11)


def private_median(xs, eps, rng):
    below = (np.asarray(xs)[:, None] < GRID[None, :]).sum(0)
    u = -np.abs(below - len(xs) / 2)
    p = np.exp(eps / 2 * (u - u.max()))
    return GRID[rng.choice(len(GRID), p=p / p.sum())]


def play(rewards, rng):
    T, K = rewards.shape
    m = 11
    arms = [0] * m + [1] * m
    med = [private_median(rewards[:m, 0], 2.0, rng), private_median(rewards[m:2 * m, 1], 2.0, rng)]
    if med[0] == med[1]:
        winner = int(rng.random() < 0.5)
    else:
        winner = int(med[1] > med[0])
    return np.array(arms + [winner] * (T - 2 * m))
