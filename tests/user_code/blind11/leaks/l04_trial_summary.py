"""Summary of a small trial: mean response, mean square and share of responders.

Claim: pure epsilon = 0.7 for one replaced patient.
Fault: each of the three numbers gets Laplace noise for the whole budget; nothing is divided by three.
Pair: ten patients, one response 0 or 1, the others equal.  All three numbers move by 1/10.
Event: every number is at or below its value on the first input.  Probability (1/2)^3 = .125 against
(exp(-.7)/2)^3 = .0153: loss exactly 2.1, 3 times the claim.
"""
import numpy as np

EPSILON = 0.7
RESPONDER = 0.5


def release(data, size, rng):
    x = np.asarray(data, dtype=float)
    n = len(x)
    summary = np.array([x.mean(), np.mean(x ** 2), np.mean(x >= RESPONDER)])
    noise = rng.laplace(0.0, 1.0 / (n * EPSILON), size=(size, 3))
    return summary + noise


_BASE = np.array([0.1, 0.3, 0.8, 0.6, 0.2, 0.9, 0.4, 0.7, 0.5, 0.0])
_OTHER = np.array([0.1, 0.3, 0.8, 0.6, 0.2, 0.9, 0.4, 0.7, 0.5, 1.0])
release.neighbours = [(_BASE, _OTHER)]
