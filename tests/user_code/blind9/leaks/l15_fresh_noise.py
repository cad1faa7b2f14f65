"""A new story (arm 1) is tried 10 times and then shown whenever its noisy total exceeds one half of the tries.
Fault: one frozen total is noised afresh every round. Pair: total 5 or 4; event: arm 1 in all 20
remaining rounds (T=30): 0.5^20 against (0.5 e^-EPSILON)^20. Loss 20*EPSILON = 10."""
import numpy as np
EPSILON = 0.5


def play(rewards, rng):
    T = len(rewards)
    acts = np.ones(T, dtype=int)
    total = rewards[:10, 1].sum()
    for t in range(10, T):
        acts[t] = int(total + rng.laplace(0, 1 / EPSILON) > 5)
    return acts
