"""UCB fed with randomised bits."""
import numpy as np

EPSILON = 1.0
FLIP = 1.0 / (1.0 + np.exp(EPSILON))


def noisy_bit(reward, rng):
    bit = rng.random() < reward
    return int(bit != (rng.random() < FLIP))


def play(rewards, rng):
    T, K = rewards.shape
    ones, pulls = np.zeros(K), np.zeros(K)
    out = np.empty(T, dtype=int)
    for t in range(T):
        if t < K:
            arm = t
        else:
            debiased = (ones / pulls - FLIP) / (1 - 2 * FLIP)
            arm = int(np.argmax(debiased + np.sqrt(2 * np.log(t + 1) / pulls)))
        out[t] = arm
        ones[arm] += noisy_bit(rewards[t, arm], rng)
        pulls[arm] += 1
    return out
