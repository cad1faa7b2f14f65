"""Total turnover of a book with staircase noise (Geng and Viswanath).

Claim: EPSILON-DP, one entry in [0, 1] replaced.
Proof. The sum moves by at most 1.  The noise density is constant on steps: with b = e^-EPSILON and g = GAMMA it is
c * b^i on |x| in [i, i + g) and c * b^(i + 1) on [i + g, i + 1).  Moving x by at most 1 crosses from a step to
one at most a factor b away (|x + d| is at most |x| + 1, whose level is exactly b lower).  Sampling: sign, geometric
i, step chosen with odds g : (1 - g) b, uniform place in the step, which gives that density.  Outputs are
independent draws, each of which is one release.
"""
import numpy as np

EPSILON = 1.4
GAMMA = 1.0 / (1.0 + np.exp(EPSILON / 2.0))


def staircase(size, rng):
    ratio = np.exp(-EPSILON)
    sign = rng.choice([-1.0, 1.0], size=size)
    stair = rng.geometric(1.0 - ratio, size=size) - 1
    upper = rng.random(size) < GAMMA / (GAMMA + (1.0 - GAMMA) * ratio)
    place = rng.random(size)
    return sign * np.where(upper, stair + GAMMA * place, stair + GAMMA + (1.0 - GAMMA) * place)


def release(data, size, rng):
    turnover = float(np.clip(np.asarray(data, dtype=float), 0.0, 1.0).sum())
    return turnover + staircase(size, rng)


release.neighbours = [
    ([0.0, 0.2, 0.7, 0.4, 0.9], [1.0, 0.2, 0.7, 0.4, 0.9]),
    ([0.3, 0.2, 0.7, 0.4, 0.9], [0.3, 0.2, 0.7, 0.4, 0.1]),
]
