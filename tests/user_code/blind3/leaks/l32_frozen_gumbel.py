"""Gumbel-max over cumulative totals in every epoch; keys belong to arms and are made at the start."""


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    keys = rng.gumbel(0, 2 / epsilon, k)
    totals = [0.0] * k
    actions = []
    while len(actions) < horizon:
        for arm in range(k):
            totals[arm] += rewards[len(actions), arm]
            actions.append(arm)
        leader = max(range(k), key=lambda a: totals[a] + keys[a])
        actions += [leader] * 3
    return actions[:horizon]
