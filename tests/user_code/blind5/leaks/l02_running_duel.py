"""Alternate exploration and exploitation; the leader of each phase is the noisy best so far."""

EPSILON = 1.0
EXPLORE = 4
EXPLOIT = 8


def noisy_leader(totals, rng):
    noisy = [x + rng.laplace(0.0, 1.0 / EPSILON) for x in totals]
    return noisy.index(max(noisy))


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    totals = [0.0] * n_arms
    arms = []
    while len(arms) < horizon:
        for i in range(min(EXPLORE, horizon - len(arms))):
            arm = i % n_arms
            totals[arm] += rewards[len(arms), arm]
            arms.append(arm)
        leader = noisy_leader(totals, rng)
        arms += [leader] * min(EXPLOIT, horizon - len(arms))
    return arms
