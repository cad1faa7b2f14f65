"""Successive elimination in doubling phases with a fresh noisy mean per arm and phase."""
import math

EPSILON = 1.0
BETA = 0.2


def radius(n, arms):
    log_term = math.log(2 * arms / BETA)
    return math.sqrt(log_term / (2 * n)) * 0.35 + 0.35 * log_term / (EPSILON * n)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    active = list(range(n_arms))
    history = []
    length = 4
    while len(history) < horizon:
        if len(active) == 1 or len(history) + length * len(active) > horizon:
            k = 0
            while len(history) < horizon:
                history.append(active[k % len(active)])
                k += 1
            break
        means = {}
        for arm in active:
            total = 0.0
            for _ in range(length):
                total += rewards[len(history), arm]
                history.append(arm)
            means[arm] = (total + rng.laplace(0.0, 1.0 / EPSILON)) / length
        cut = max(means.values()) - 2 * radius(length, n_arms)
        active = [a for a in active if means[a] >= cut]
        length *= 2
    return history
