"""Win-stay / lose-shift on randomised responses.

Every reward is turned into a single private bit (stochastic rounding and
randomised response in one draw).  The policy only ever sees that bit: a 1
means stay on the arm, a 0 means move to one of the other arms.
Claims epsilon = 1.0 (pure) per reward.
"""
import math

EPSILON = 1.0


def private_bit(value, epsilon, rng):
    """Bit with P(1) going linearly from 1/(1+e^eps) at 0 to e^eps/(1+e^eps) at 1."""
    value = min(1.0, max(0.0, float(value)))
    e = math.exp(epsilon)
    p_one = (1.0 + value * (e - 1.0)) / (e + 1.0)
    return int(rng.random() < p_one)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    actions = []
    arm = int(rng.integers(n_arms))
    for t in range(horizon):
        actions.append(arm)
        match private_bit(rewards[t, arm], EPSILON, rng):
            case 1:
                pass
            case 0:
                arm = (arm + 1 + int(rng.integers(n_arms - 1))) % n_arms
    return actions
