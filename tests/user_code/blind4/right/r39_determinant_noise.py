"""Private round-robin elimination; noise is a 2x2 Gaussian determinant."""
import numpy as np


def make_release(rng, eps):
    def release(total):
        a, b, c, d = rng.standard_normal(4)
        return total + (a * d - b * c) / eps
    return release


def play(rewards, rng, epsilon=1.0):
    T, K = rewards.shape
    release = make_release(rng, epsilon)
    arms, acts = list(range(K)), []
    while len(arms) > 1 and len(acts) + 6 * len(arms) <= T:
        report = []
        start = len(acts)
        for j, arm in enumerate(arms):
            rows = rewards[start + 6 * j: start + 6 * (j + 1), arm]
            report.append(release(rows.sum()))
            acts += [arm] * 6
        worst = int(np.argmin(report))
        if max(report) - report[worst] > 3.0:
            arms.pop(worst)
    k = 0
    while len(acts) < T:
        acts.append(arms[k % len(arms)])
        k += 1
    return acts
