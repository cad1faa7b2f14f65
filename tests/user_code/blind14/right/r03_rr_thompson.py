"""Thompson sampling on locally privatised bits, many runs at once.

Each reward becomes a Bernoulli(reward) bit, the bit goes through binary
randomised response with parameter EPS, and only the answer is kept.
The Beta posterior is over the (debiased by monotonicity) answers.
Claim: EPS = 1.5, pure, one reward of one round.
"""
import numpy as np

EPS = 1.5
KEEP = np.exp(EPS) / (1.0 + np.exp(EPS))


def privatise(values, rng):
    bits = rng.random(values.shape) < values
    flip = rng.random(values.shape) >= KEEP
    return np.logical_xor(bits, flip)


def play_many(rewards, n_runs, rng):
    horizon, k = rewards.shape
    rows = np.arange(n_runs)
    yes = np.ones((n_runs, k))
    no = np.ones((n_runs, k))
    out = np.empty((n_runs, horizon), dtype=np.int64)
    for t in range(horizon):
        theta = rng.beta(yes, no)
        arm = theta.argmax(axis=1)
        answer = privatise(rewards[t, arm], rng)
        yes[rows, arm] += answer
        no[rows, arm] += ~answer
        out[:, t] = arm
    return out
