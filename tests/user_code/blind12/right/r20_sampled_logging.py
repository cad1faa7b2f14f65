"""Sampled event logging for a coupon bandit, many replications at once.

Every conversion event is written to the log with probability Q = 0.5 by a coin that nobody sees.
After each batch the log's totals are released with Laplace(1 / EPS_LOG) noise and the log is
wiped.  Removing or replacing one event moves one total by at most 1, so secret Poisson sampling
gives log(1 + Q (exp(EPS_LOG) - 1)) = EPSILON.  Totals are rescaled with the public
number of impressions, never with the number of logged ones.  Claim: 1.0-DP (pure).
"""
import numpy as np

EPSILON = 1.0
Q = 0.5
EPS_LOG = float(np.log1p(np.expm1(EPSILON) / Q))
BATCH = 12


def play_many(rewards, n_runs, rng):
    horizon, k = rewards.shape
    runs = np.arange(n_runs)
    out = np.empty((n_runs, horizon), dtype=np.int64)
    estimate = np.zeros((n_runs, k))          # running noisy totals
    shown = np.zeros((n_runs, k))
    log = np.zeros((n_runs, k))
    leader = np.zeros(n_runs, dtype=np.int64)

    for t in range(horizon):
        pos, batch = t % BATCH, t // BATCH
        # first batch: round robin; later: two slots in each batch per arm, the rest to the leader
        if batch == 0 or pos < 2 * k:
            arm = np.full(n_runs, t % k)
        else:
            arm = leader
        out[:, t] = arm
        logged = rng.random(n_runs) < Q
        log[runs, arm] += np.where(logged, rewards[t, arm], 0.0)
        shown[runs, arm] += 1
        if pos == BATCH - 1:
            estimate += log + rng.laplace(scale=1.0 / EPS_LOG, size=log.shape)
            log[:] = 0.0
            leader = np.argmax(estimate / (Q * shown), axis=1)
    return out
