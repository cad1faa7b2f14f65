# Simulation of DP successive elimination. Usage: python b01_global_random_se.py
import numpy as np


class Bandit:
    def __init__(self, means):
        self.means = means
        self.n_arms = len(means)

    def pull(self, arm):
        return float(np.random.rand() < self.means[arm])


def run_dpse(env, horizon, epsilon):
    """Every epoch starts from zero, so each reward is used for one noisy mean."""
    K = env.n_arms
    S = list(range(K))
    t, e = 0, 0
    regret_trace = []
    while t < horizon:
        if len(S) == 1:
            regret_trace.append(env.pull(S[0]))
            t += 1
            continue
        e += 1
        R = 2 ** e
        mu = {}
        for a in S:
            tot = 0.0
            for _ in range(R):
                if t >= horizon:
                    return regret_trace
                r = env.pull(a)
                regret_trace.append(r)
                tot += r
                t += 1
            mu[a] = tot / R + np.random.laplace(0, 1.0 / (epsilon * R))
        best = max(mu.values())
        gap = 0.5 * 2 ** -e
        S = [a for a in S if mu[a] >= best - gap]
    return regret_trace


if __name__ == "__main__":
    np.random.seed(0)
    print(sum(run_dpse(Bandit([0.9, 0.5, 0.4]), 48, 1.0)))
