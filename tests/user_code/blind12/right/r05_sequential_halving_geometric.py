"""Sequential halving with discrete noise.

Rewards are rounded to bits at random, each halving phase counts the ones of its own fresh
pulls, adds two-sided geometric noise with ratio exp(-epsilon) and keeps the better half;
equal noisy counts are ordered by a random permutation.  The winner is played to the end.
Claim: pure epsilon-DP, epsilon = 1.5 (four arms; the phases use disjoint rewards).
"""
import numpy as np

EPSILON = 1.5
PULLS = {4: 6, 3: 8, 2: 10, 5: 5}


def two_sided_geometric(rng, eps):
    q = 1.0 - np.exp(-eps)
    return int(rng.geometric(q)) - int(rng.geometric(q))


def play(rewards, rng):
    horizon, k = rewards.shape
    path = []

    def pull(arm):
        if len(path) == horizon:
            return None
        r = rewards[len(path), arm]
        path.append(arm)
        return int(rng.random() < r)

    field = list(range(k))
    while len(field) > 1 and len(path) < horizon:
        reps = PULLS[len(field)]
        bits = {a: [] for a in field}
        for _ in range(reps):
            for a in field:
                bits[a].append(pull(a))
        if any(b is None for col in bits.values() for b in col):
            break
        noisy = {a: sum(col) + two_sided_geometric(rng, EPSILON) for a, col in bits.items()}
        order = [field[i] for i in rng.permutation(len(field))]
        order.sort(key=lambda a: -noisy[a])
        field = sorted(order[: (len(field) + 1) // 2])
    path += [field[0]] * (horizon - len(path))
    return path
