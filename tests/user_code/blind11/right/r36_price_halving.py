"""Successive halving over a ladder of prices, written as a recursion.

Claim: EPSILON-DP for the whole action sequence, one reward in [0, 1] changed.
Proof. A pull belongs to exactly one stage, and its reward enters only the takings of its own price in
that stage (takings start at zero in every call of `race`).  Each takings figure gets its own noise
(E1 - E2) / EPSILON, E1 and E2 standard exponentials, i.e. Laplace of scale 1 / EPSILON.  One changed
reward moves one figure by at most 1, so the noisy figures of that stage are EPSILON-close given what
was seen before; the figures of the other stages do not use it; actions are a function of noisy figures.
"""
import numpy as np

EPSILON = 1.0
PULLS_PER_STAGE = 4


def play(rewards, rng):
    horizon, n_prices = rewards.shape
    actions = []

    def noisy(total):
        gain, loss = rng.standard_exponential(2)
        return total + (gain - loss) / EPSILON

    def race(pool):
        left = horizon - len(actions)
        if len(pool) == 1 or left < PULLS_PER_STAGE * len(pool):
            actions.extend([pool[0]] * left)
            return
        takings = dict.fromkeys(pool, 0.0)
        for _ in range(PULLS_PER_STAGE):
            for price in pool:
                takings[price] += float(rewards[len(actions), price])
                actions.append(price)
        scored = {price: noisy(total) for price, total in takings.items()}
        ranking = sorted(pool, key=scored.get, reverse=True)
        race(ranking[: (len(pool) + 1) // 2])

    race(list(range(n_prices)))
    return np.asarray(actions, dtype=int)
