"""Knock-out heats between arms, judged by Gaussian noise, (1.0, 1e-3)-DP for the sequence of actions.

In a heat every arm still in the field is pulled PULLS times; the heat's totals start from zero, get N(0, SIGMA^2) each, and the
lowest noisy total leaves.  A reward enters one total of one heat and moves it by at most 1.  Given the past (which does not depend
on the reward) that total is one Gaussian mechanism of sensitivity 1; all later actions are a function of it and of other rewards.
SIGMA solves Phi(1/(2s) - eps s) - e^eps Phi(-1/(2s) - eps s) = delta, which is exact for the Gaussian mechanism (Balle and Wang).
"""
from enum import Enum, auto
from math import exp

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

EPSILON = 1.0
DELTA = 1e-3
PULLS = 5


def _excess(s):
    return norm.cdf(0.5 / s - EPSILON * s) - exp(EPSILON) * norm.cdf(-0.5 / s - EPSILON * s) - DELTA


SIGMA = brentq(_excess, 0.3, 30.0) * (1 + 1e-9)


class Stage(Enum):
    HEAT = auto()
    JUDGE = auto()
    PODIUM = auto()


def play(rewards, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    field = list(range(k))
    actions = np.empty(horizon, dtype=int)
    totals = dict.fromkeys(field, 0.0)
    stage = Stage.HEAT if k > 1 else Stage.PODIUM
    t = pulls_done = 0
    while t < horizon:
        match stage:
            case Stage.HEAT:
                arm = field[pulls_done % len(field)]
                actions[t] = arm
                totals[arm] += min(max(rewards[t, arm], 0.0), 1.0)
                t += 1
                pulls_done += 1
                if pulls_done == PULLS * len(field):
                    stage = Stage.JUDGE
            case Stage.JUDGE:
                noisy = {a: s + rng.normal(0.0, SIGMA) for a, s in totals.items()}
                field.remove(min(noisy, key=noisy.get))
                totals = dict.fromkeys(field, 0.0)
                pulls_done = 0
                stage = Stage.HEAT if len(field) > 1 else Stage.PODIUM
            case Stage.PODIUM:
                actions[t:] = field[0]
                t = horizon
    return actions
