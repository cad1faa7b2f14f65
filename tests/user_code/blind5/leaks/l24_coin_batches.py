"""Stay or switch on batch wins with integer noise made from coin tosses."""
import math

EPSILON = 0.25
BATCH = 6


def toss_until_heads(p_heads, rng):
    tails = 0
    while rng.random() >= p_heads:
        tails += 1
    return tails


def integer_noise(rng):
    p = math.exp(-EPSILON)
    return toss_until_heads(p, rng) - toss_until_heads(p, rng)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    arm, arms = 0, []
    while len(arms) < horizon:
        t = len(arms)
        wins = sum(1 for r in rewards[t:t + BATCH, arm] if r > 0.5)
        arms += [arm] * min(BATCH, horizon - t)
        if 2 * (wins + integer_noise(rng)) < BATCH:
            arm = (arm + 1) % n_arms
    return arms
