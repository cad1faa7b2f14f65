"""Follow-the-leader that learns on a random fifth of the rounds.  K = 4, T = 50, epsilon = 1 (pure).

A round is a learning round with probability Q.  Its reward gets Laplace(1/e0) and goes
into the estimate; by subsampling the mechanism with e0 = log(1 + (e^eps - 1)/Q) is
epsilon-DP.  All other rewards are not used.
"""
import math

K, T = 4, 50
EPS, Q = 1.0, 0.2
E0 = math.log1p(math.expm1(EPS) / Q)


def laplace(rng, scale):
    return scale * (rng.exponential() - rng.exponential())


def leader(totals, counts):
    # a prior pseudo-reward of one half per arm
    return max(range(K), key=lambda a: (totals[a] + 0.5) / (counts[a] + 1))


def play(rewards, rng):
    totals, counts = [0.0] * K, [0] * K
    actions, lead = [], 0
    for t in range(T):
        learning = rng.random() < Q
        arm = int(rng.integers(K)) if learning else lead
        actions.append(arm)
        if learning:
            totals[arm] += float(rewards[t, arm]) + laplace(rng, 1.0 / E0)
            counts[arm] += 1
            lead = leader(totals, counts)
    return actions
