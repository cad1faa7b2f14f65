"""Surprise-driven exploration, written as a coroutine; K = 3, T = 50, claimed epsilon = 1.0.

Values of the arms are learnt from batches of three rewards (batch sum + Laplace(1/epsilon), each
reward in one batch) and start at 0.5.  The agent is greedy on these values and wanders to
another arm more often after a surprising reward, as curious agents do.  Pure DP is claimed.
"""
import numpy as np

K, T, EPS = 3, 50, 1.0
BATCH, RATE = 3, 0.5
CALM, CURIOSITY = 0.05, 1.0


def agent(rng):
    value = [0.5] * K
    pending = [[] for _ in range(K)]
    wander = 0.3
    while True:
        best = max(range(K), key=value.__getitem__)
        if rng.random() < wander:
            arm = (best + 1 + int(rng.integers(K - 1))) % K
        else:
            arm = best
        reward = yield arm
        wander = min(0.6, CALM + CURIOSITY * abs(reward - value[arm]))
        pending[arm].append(reward)
        if len(pending[arm]) == BATCH:
            mean = (sum(pending[arm]) + rng.laplace(0.0, 1.0 / EPS)) / BATCH
            value[arm] += RATE * (min(1.0, max(0.0, mean)) - value[arm])
            pending[arm].clear()


def play(rewards, rng):
    player = agent(rng)
    arm = next(player)
    actions = [arm]
    for t in range(T - 1):
        arm = player.send(float(rewards[t, arm]))
        actions.append(arm)
    return np.array(actions)
