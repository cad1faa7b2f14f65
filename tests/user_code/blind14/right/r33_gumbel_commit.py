"""Explore, then commit with an exponential mechanism (epsilon = 1.5).

Five arms, four probes each in a random order.  The score of an arm is its sum
of probe rewards; a single reward belongs to a single arm, so only one score can
move (by one at most) and the weights are exp(epsilon * score).
"""
import numpy as np

EPS = 1.5
PROBES = 4


def explore(rewards, order):
    """Yield (arm, reward) in playing order."""
    yield from ((a, rewards[t, a]) for t, a in enumerate(order))


def gumbel_choice(scores, eps, rng):
    u = rng.random(len(scores))
    u = np.where(u == 0.0, 0.5 ** 54, u)
    return int(np.argmax(eps * scores - np.log(-np.log(u))))


def play(rewards, rng):
    T, K = rewards.shape
    order = rng.permutation(np.repeat(np.arange(K), PROBES))
    scores = np.zeros(K)
    for arm, r in explore(rewards, order):
        scores[arm] += r
    winner = gumbel_choice(scores, EPS, rng)
    tail = np.full(T - order.size, winner)
    return np.concatenate([order, tail])
