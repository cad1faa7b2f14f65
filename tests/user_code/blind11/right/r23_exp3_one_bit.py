"""EXP3 for an adversarial queue-routing problem; every reward is reported as one randomised bit.

Proof.  A reward r becomes a bit with P(bit = 1 | r) = (1 + r (e - 1)) / (e + 1), e = exp(EPSILON).
This lies between 1/(e+1) and e/(e+1), so for any two rewards P(bit)/P'(bit) <= e, for bit = 1 and for bit = 0.
A reward is read once, in its own round, by a fresh uniform; weights and actions are functions of the past
bits, past actions and independent coins.  Given equal histories the later rounds have equal laws, hence the loss
of the whole action sequence is at most EPSILON.
"""
import math
from functools import partial

import numpy as np

EPSILON = 2.0
N_ARMS = 4
HORIZON = 60


def one_bit(reward, rng, eps):
    e = math.exp(eps)
    return int(rng.random() < (1.0 + reward * (e - 1.0)) / (e + 1.0))


def debias(bit, eps):
    e = math.exp(eps)
    return (bit * (e + 1.0) - 1.0) / (e - 1.0)


def mixture(log_w, gamma):
    w = np.exp(log_w - log_w.max())
    return (1.0 - gamma) * w / w.sum() + gamma / log_w.size


def play(rewards, rng):
    horizon, k = rewards.shape
    report = partial(one_bit, rng=rng, eps=EPSILON)
    gamma = min(0.5, math.sqrt(k * math.log(k) / horizon))
    log_w = np.zeros(k)
    actions = np.empty(horizon, dtype=int)
    for t in range(horizon):
        p = mixture(log_w, gamma)
        arm = int(rng.choice(k, p=p))
        log_w[arm] += gamma * debias(report(rewards[t, arm]), EPSILON) / (k * p[arm])
        actions[t] = arm
    return actions
