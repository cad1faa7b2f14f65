"""Each reward is asked about several times for a steadier signal."""
import numpy as np

EPSILON = 0.5
ASK = 5
TRUTH = np.exp(EPSILON) / (1 + np.exp(EPSILON))


def votes(reward, rng):
    bit = reward >= 0.5
    honest = rng.random(ASK) < TRUTH
    return int(np.where(honest, bit, not bit).sum())


def play(rewards, rng):
    T, K = rewards.shape
    arm, out = 0, []
    for t in range(T):
        out.append(arm)
        yes = votes(rewards[t, arm], rng)
        step = 0 if yes >= 4 else 1 if yes >= 2 else 2
        arm = (arm + step) % K
    return np.array(out)
