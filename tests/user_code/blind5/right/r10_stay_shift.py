"""Win-stay lose-shift where the win signal passes randomised response."""
import math

EPSILON = 2.0


def respond(truth, rng):
    keep = rng.random() < 1.0 / (1.0 + math.exp(-EPSILON))
    return truth if keep else not truth


def player(n_arms, rng):
    arm = int(rng.integers(n_arms))
    while True:
        reward = yield arm
        if not respond(reward >= 0.5, rng):
            arm = (arm + 1) % n_arms


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    gen = player(n_arms, rng)
    arm = next(gen)
    picks = []
    for t in range(horizon):
        picks.append(arm)
        arm = gen.send(rewards[t, arm])
    return picks
