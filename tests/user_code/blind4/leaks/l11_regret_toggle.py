"""Toggles between arms each time a noisy regret counter is above a noisy threshold."""
import numpy as np

EPS = 1.0
THRESHOLD = 2.0


def play(rewards, rng):
    T, K = rewards.shape
    bar = THRESHOLD + rng.laplace(scale=2 / EPS)
    counter, arm, acts = 0.0, 0, []
    for t in range(T):
        acts.append(arm)
        counter += 0.5 - rewards[t, arm]
        if t % 2:
            if counter + rng.laplace(scale=4 / EPS) > bar:
                arm = (arm + 1) % K
    return acts
