"""Explore, subsample in secret, commit.  K = 2, T = 40, claimed epsilon = 1.0 (pure).

During 20 alternating rounds each reward is kept with probability RATE by a coin that nobody
sees.  The kept sums (not the kept counts) get Laplace(1/eps0) noise with
eps0 = log(1 + (e^eps - 1) / RATE), which Poisson sampling amplifies to eps.
"""
import numpy as np

K, T, N = 2, 40, 20
EPS, RATE = 1.0, 0.5
EPS0 = np.log1p(np.expm1(EPS) / RATE)


def play(rewards, rng):
    actions = np.zeros(T, dtype=int)
    actions[:N] = (np.arange(N) + rng.integers(K)) % K
    seen = rewards[np.arange(N), actions[:N]]
    keep = rng.random(N) < RATE
    noisy = np.array([seen[keep & (actions[:N] == a)].sum() for a in range(K)])
    noisy = noisy + rng.laplace(0.0, 1.0 / EPS0, size=K)
    estimate = noisy / (RATE * N / K)
    actions[N:] = 1 if estimate[1] > estimate[0] else 0
    return actions
