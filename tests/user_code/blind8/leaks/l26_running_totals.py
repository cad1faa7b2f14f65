"""Trial periods of 2, 4 and 8 rounds: at each check point the arm on trial must have earned half.

FAULT: each check adds fresh Laplace(1 / EPSILON) noise to the running total since the start of the trial, so the first
rewards are used in three checks and cost 3 EPSILON, not EPSILON.
Pair: arm 0 earns (0, 0, 1, 0, 1, 1, 0, 0) against the same with first reward 1, totals 0, 1, 3 against 1, 2, 4 at bars
1, 2, 4.  Event: arm 0 survives all checks: 0.125 e^(-3 EPSILON) = 0.0153 against 0.125, loss 2.1 (claim 0.7).
"""
import numpy as np

EPSILON = 0.7
CHECKS = (2, 4, 8)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    actions = []
    for arm in range(n_arms - 1):
        total = 0.0
        passed = True
        for n in range(1, CHECKS[-1] + 1):
            total += rewards[len(actions), arm]
            actions.append(arm)
            if n in CHECKS and total + rng.laplace(0, 1 / EPSILON) < n / 2:
                passed = False
                break
        if passed:
            return np.array(actions + [arm] * (horizon - len(actions)))
    return np.array(actions + [n_arms - 1] * (horizon - len(actions)))
