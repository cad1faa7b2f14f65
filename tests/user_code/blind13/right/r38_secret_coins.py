"""Phased bandit: secret Poisson subsampling, then the exponential mechanism by inverse CDF.

Claim: epsilon = 0.8 (pure).  Every reward of the test part of a phase is kept with probability q = 1/2 (the coin is
never published); the kept sums, each changed by at most 1 by a replaced reward and only one of them, go into an
exponential mechanism with eps0 = log(1 + (e^eps - 1) / q).  The phases share no data.
"""
import numpy as np

EPS, Q = 0.8, 0.5
EPS0 = np.log1p(np.expm1(EPS) / Q)
ARMS = 4
TEST, USE = 16, 4
PHASES = 3


def exponential_mechanism(scores, eps0, u):
    w = np.exp(eps0 * (scores - scores.max()))
    cdf = np.cumsum(w)
    return min(int(np.searchsorted(cdf, u * cdf[-1], side="right")), len(scores) - 1)


def timetable():
    for phase in range(PHASES):
        for i in range(TEST):
            yield "test", i % ARMS
        yield "decide", None
        for _ in range(USE):
            yield "use", None


def play(rewards, rng):
    actions, kept, best = [], np.zeros(ARMS), 0
    for step in timetable():
        match step:
            case ("test", arm):
                if rng.random() < Q:
                    kept[arm] += rewards[len(actions), arm]
                actions.append(arm)
            case ("decide", _):
                best = exponential_mechanism(kept, EPS0, rng.random())
                kept = np.zeros(ARMS)
            case ("use", _):
                actions.append(best)
    return np.asarray(actions)
