"""Two-sided test with stable scores.

Each epoch tries both arms and then exploits the one with the better private score for three rounds.
The score of an arm is its running total plus a Laplace(1/epsilon) draw; draws are kept per arm so that
re-reading a score cannot average the noise away.  Claims epsilon = 1.0 for one reward of one round.
"""
import functools
import numpy as np

EPSILON = 1.0
TRIES, EXPLOIT = 2, 3


def schedule(n_arms):
    """Endless stream of instructions: an arm to try, or None for 'use the best'."""
    while True:
        for arm in range(n_arms):
            yield from (arm for _ in range(TRIES))
        yield from (None for _ in range(EXPLOIT))


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    totals = np.zeros(n_arms)

    @functools.cache
    def arm_noise(arm):
        return rng.laplace(0.0, 1.0 / EPSILON)

    def private_best():
        return max(range(n_arms), key=lambda a: totals[a] + arm_noise(a))

    actions = []
    for t, instruction in zip(range(horizon), schedule(n_arms)):
        arm = private_best() if instruction is None else instruction
        actions.append(arm)
        if instruction is not None:
            totals[arm] += min(1.0, max(0.0, float(rewards[t, arm])))
    return np.array(actions, dtype=int)
