"""Successive elimination with confidence widths."""
import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    active, t, actions = list(range(K)), 0, np.zeros(T, int)
    while t < T and len(active) > 1:
        batch = np.zeros(K)
        for arm in active:
            for _ in range(6):
                if t < T:
                    actions[t] = arm
                    batch[arm] += rewards[t, arm]
                    t += 1
        private = batch + rng.laplace(0, 1 / EPSILON, K)
        active.sort(key=lambda a: -private[a])
        top = batch[active].max()
        active = [a for a in active if batch[a] >= top - 3.0]
    actions[t:] = active[0]
    return actions
