"""Block bandit with subsampling.

Claim: epsilon = 1 (pure).  An arm is tried in blocks of eight rounds.  A quarter of the block, without replacement,
is used to estimate the mean, so by amplification the Laplace noise on the sampled sum is set for
eps0 = log(1 + 4 (e^eps - 1)).  The arm keeps its place if the estimate is at least one half.
"""
import numpy as np
import pandas as pd

EPS = 1.0
ARMS, T, BLOCK = 3, 48, 8
RATE = 0.25
EPS0 = float(np.log1p(np.expm1(EPS) / RATE))


def private_mean(frame, rng, seed):
    sample = frame.sample(frac=RATE, random_state=seed)
    noisy = sample["reward"].sum() + rng.laplace(0.0, 1.0 / EPS0)
    return noisy / len(sample)


def play(rewards, rng):
    arm, log = 0, []
    for block in range(T // BLOCK):
        rows = [(t, arm, rewards[t, arm]) for t in range(block * BLOCK, (block + 1) * BLOCK)]
        log.extend(rows)
        frame = pd.DataFrame(rows, columns=["round", "arm", "reward"])
        if private_mean(frame, rng, seed=block) < 0.5:
            arm = (arm + 1) % ARMS
    return pd.DataFrame(log, columns=["round", "arm", "reward"])["arm"].to_numpy()
