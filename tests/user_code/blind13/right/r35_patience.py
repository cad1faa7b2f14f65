"""Patience bandit: stay on an arm until its private loss account is used up.

Claim: epsilon = 1 (pure).  In each stay an above-threshold test watches the running sum of losses 1 - reward of that
stay.  Threshold noise and query noise are both Laplace(1 / epsilon).  The queries are running sums of one stay, so a
replaced reward moves all later queries of the stay by the same amount: to reproduce an outcome one shifts either the
threshold (if the sums rise) or only the answering query (if they fall), never both, hence epsilon and not 2 epsilon.
A new stay starts with new noise and an empty account.
"""
from itertools import count, islice

import numpy as np

EPSILON, PATIENCE = 1.0, 5.0
ARMS, T = 3, 60


def laplace_stream(rng, scale):
    while True:
        yield scale * (rng.standard_exponential() - rng.standard_exponential())


def account(noise):
    """Takes losses, answers True at the first one for which the noisy sum passes the noisy limit."""
    limit = PATIENCE + next(noise)
    spent, answer = 0.0, None
    while True:
        loss = yield answer
        spent += loss
        answer = spent + next(noise) >= limit


def run(rewards, rng):
    noise = laplace_stream(rng, 1.0 / EPSILON)
    t = 0
    for stay in count():
        arm = stay % ARMS
        test = account(noise)
        next(test)
        used_up = False
        while not used_up:
            yield arm
            used_up = test.send(1.0 - rewards[t, arm])
            t += 1


def play(rewards, rng):
    return np.fromiter(islice(run(rewards, rng), T), dtype=int, count=T)
