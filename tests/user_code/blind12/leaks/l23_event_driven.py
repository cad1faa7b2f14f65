"""Event-driven trial: interim looks at a planned number of events, as in survival studies.

Patients are randomised 1:1:...; an interim look is due whenever the trial has QUOTA further events (response above
one half).  At a look the responses since the last look are summed per arm, Laplace(1/eps) noise is added once, and the
arm with the best noisy mean gets a double share until the next look.
Claim: 1.0-DP (pure); each response is in one look.
"""
import itertools

import numpy as np

EPSILON = 1.0
QUOTA = 5


def allocation(k, favourite):
    cycle = list(range(k)) + ([favourite] * k if favourite is not None else [])
    return itertools.cycle(cycle)


def play(rewards, rng):
    T, K = rewards.shape
    schedule = allocation(K, None)
    sums, counts, events = np.zeros(K), np.zeros(K), 0
    actions = []
    for t in range(T):
        arm = next(schedule)
        y = rewards[t, arm]
        actions.append(arm)
        sums[arm] += y
        counts[arm] += 1
        events += y > 0.5
        match (bool(events >= QUOTA), t + 1 < T):
            case (True, True):
                look = (sums + rng.laplace(0.0, 1.0 / EPSILON, K)) / np.maximum(counts, 1.0)
                schedule = allocation(K, int(look.argmax()))
                sums, counts, events = np.zeros(K), np.zeros(K), 0
            case _:
                pass
    return np.array(actions)
