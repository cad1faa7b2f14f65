"""Win-stay lose-shift on a randomised win bit."""
import math

EPSILON = 1.0
P_TRUTH = math.exp(EPSILON) / (1 + math.exp(EPSILON))


def randomize(bit, rng):
    """Tell the truth with probability P_TRUTH, otherwise answer at random."""
    if rng.random() < P_TRUTH:
        return bit
    return bool(rng.integers(2))


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    arm = int(rng.integers(n_arms))
    arms = []
    for t in range(horizon):
        arms.append(arm)
        if not randomize(rewards[t, arm] > 0.5, rng):
            arm = (arm + 1) % n_arms
    return arms
