"""Carrier selection by phased elimination with private phase reports.

A generator yields phases; in each phase all surviving carriers ship the same number
of parcels, the phase totals are released with Laplace noise and the carrier furthest
behind (if it is behind by more than a margin) is dropped.  Totals never carry over from phase to
phase.  Claim: 1.5-DP (pure) per on-time score in [0, 1].
"""
import numpy as np

EPSILON = 1.5
FIRST_PHASE = 3
MARGIN = 0.8


def phase_schedule(first):
    """3, 4, 6, 8, 12 ... parcels per surviving carrier."""
    size = float(first)
    while True:
        yield int(round(size))
        size *= 1.4


def private_report(scores_by_carrier, rng):
    names = sorted(scores_by_carrier)
    noise = rng.laplace(scale=1.0 / EPSILON, size=len(names))
    return {c: float(np.sum(scores_by_carrier[c])) + z for c, z in zip(names, noise)}


def survivors(report, alive):
    if len(alive) == 1:
        return alive
    best = max(report.values())
    worst = min(alive, key=report.__getitem__)
    return [c for c in alive if c != worst] if best - report[worst] > MARGIN else alive


def play(rewards, rng):
    horizon, n_carriers = rewards.shape
    alive = list(range(n_carriers))
    actions = []
    for parcels in phase_schedule(FIRST_PHASE):
        need = parcels * len(alive)
        if len(actions) + need > horizon:
            break
        scores = {c: [] for c in alive}
        for i in range(need):
            carrier, t = alive[i % len(alive)], len(actions)
            scores[carrier].append(rewards[t, carrier])
            actions.append(carrier)
        report = private_report(scores, rng)
        alive = survivors(report, alive)
        last_report = {c: report[c] for c in alive}
    favourite = max(alive, key=last_report.__getitem__)
    actions.extend([favourite] * (horizon - len(actions)))
    return np.array(actions)
