"""Win-stay/lose-random on one-bit reports of the rewards (two-point mechanism)."""
import math

EPS = 1.0
TILT = (math.exp(EPS) - 1) / (math.exp(EPS) + 1)


def one_bit(reward, rng):
    z = 2.0 * reward - 1.0
    return rng.random() < 0.5 + TILT * z


def play(rewards, rng):
    T, K = rewards.shape
    arm, acts = 0, []
    for t in range(T):
        acts.append(arm)
        if not one_bit(float(rewards[t, arm]), rng):
            arm = (arm + 1 + int(rng.integers(K - 1))) % K
    return acts
