"""Leader updates under a privacy accountant, epsilon = 0.6, many runs at once.

Every six rounds (two probes per arm, two rounds on the leader) the sums so far
may be queried once more with noisy argmax at epsilon / 2.  The accountant allows
two paid queries; a query that leaves the leader as it was has told nothing new
and is not charged.
"""
import numpy as np

EPS = 0.6
PRICE = EPS / 2
CYCLE = np.array([0, 1, 0, 1])


def noisy_argmax(sums, eps, rng):
    return np.argmax(sums + rng.laplace(0.0, 1.0 / eps, sums.shape), axis=1)


def settle(leader, proposal, spent):
    changed = proposal != leader
    return np.where(changed, proposal, leader), spent + PRICE * changed


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    total = np.zeros(K)
    leader = np.zeros(n_runs, dtype=int)
    spent = np.zeros(n_runs)
    out = np.empty((n_runs, T), dtype=int)
    for t in range(T):
        slot = t % 6
        if slot < 4:
            out[:, t] = CYCLE[slot]
            total[CYCLE[slot]] += rewards[t, CYCLE[slot]]
            continue
        if slot == 4:
            open_ = spent + PRICE <= EPS + 1e-9
            proposal = noisy_argmax(np.tile(total, (n_runs, 1)), PRICE, rng)
            proposal = np.where(open_, proposal, leader)
            leader, spent = settle(leader, proposal, spent)
        out[:, t] = leader
    return out
