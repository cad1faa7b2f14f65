"""Recommender with vendor scores on an unknown scale.

Vendors score engagement on their own scale, so the batch is brought to [0, 1] by dividing by the largest score of
the batch; the rescaled totals then have sensitivity 1 and get Laplace(1 / eps) noise.  Batches are used once.  The
leader of the running noisy totals fills the second half of each batch.  Claim: 1.0-DP (pure).
"""
from collections import defaultdict

import numpy as np

EPSILON = 1.0
ROUNDS_PER_ARM = 6


def to_unit(batch):
    top = max((s for scores in batch.values() for s in scores), default=0.0)
    top = top if top > 0 else 1.0
    return {arm: [s / top for s in scores] for arm, scores in batch.items()}


def noisy_totals(batch, k, rng):
    unit = to_unit(batch)
    return np.array([sum(unit.get(a, ())) for a in range(k)]) + rng.laplace(0.0, 1.0 / EPSILON, k)


def play(rewards, rng):
    T, K = rewards.shape
    totals, leader, actions = np.zeros(K), 0, []
    while len(actions) < T:
        batch = defaultdict(list)
        plan = [a for _ in range(ROUNDS_PER_ARM) for a in range(K)]
        for a in plan[: T - len(actions)]:
            batch[a].append(rewards[len(actions), a])
            actions.append(a)
        totals += noisy_totals(batch, K, rng)
        leader = int(totals.argmax())
        actions += [leader] * min(ROUNDS_PER_ARM, T - len(actions))
    return np.asarray(actions)
