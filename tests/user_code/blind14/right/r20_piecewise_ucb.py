"""Local-DP UCB with the piecewise mechanism (Wang et al., ICDE 2019).

Each reward is mapped to [-1, 1] and released once by the piecewise mechanism with
the full epsilon = 2.5 (pure).  K = 2, T = 30.
"""
from math import exp, log, sqrt

K, T = 2, 30
EPSILON = 2.5


def piecewise(x, eps, rng):
    """Unbiased private report of x in [-1, 1]; the report lies in [-C, C]."""
    h = exp(eps / 2.0)
    c = (h + 1.0) / (h - 1.0)
    left = (c + 1.0) / 2.0 * x - (c - 1.0) / 2.0
    right = left + c - 1.0
    if rng.random() < h / (h + 1.0):
        return left + (right - left) * rng.random()
    u = rng.random() * (c + 1.0)
    below = left + c
    return -c + u if u < below else right + (u - below)


def play(rewards, rng):
    reports = {a: [] for a in range(K)}

    def index(a, t):
        n = len(reports[a])
        return sum(reports[a]) / n + 0.5 * sqrt(log(t + 1.0) / n)

    actions = []
    for t in range(T):
        arm = t if t < K else max(range(K), key=lambda a: index(a, t))
        x = 2.0 * float(rewards[t, arm]) - 1.0
        reports[arm].append(piecewise(x, EPSILON, rng))
        actions.append(arm)
    return actions
