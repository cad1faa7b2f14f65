"""Block Markov chain over arms driven by the exponential mechanism (Gumbel form).

A run plays one arm for six rounds; then the block score of that arm (sum of rewards
minus 2.5) competes with zero for each other arm, weights exp(eps * score), and the
next arm is the argmax of scores plus Gumbel noise.  One reward belongs to one block
and moves one score by at most one, so no factor two is needed.
Claim: epsilon = 1 (pure).  Vectorised over runs.
"""
import numpy as np

EPS = 1.0
LENGTH = 6
CENTRE = 2.5


def gumbel(shape, rng):
    return -np.log(rng.standard_exponential(shape))


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    table = np.clip(rewards, 0.0, 1.0)
    runs = np.arange(n_runs)
    arm = rng.integers(0, n_arms, size=n_runs)
    actions = np.empty((n_runs, horizon), dtype=np.int64)
    block_sum = np.zeros(n_runs)
    for t in range(horizon):
        if t and t % LENGTH == 0:
            logits = np.zeros((n_runs, n_arms))
            logits[runs, arm] = EPS * (block_sum - CENTRE)
            arm = np.argmax(logits + gumbel(logits.shape, rng), axis=1)
            block_sum = np.zeros(n_runs)
        actions[:, t] = arm
        block_sum += table[t, arm]
    return actions
