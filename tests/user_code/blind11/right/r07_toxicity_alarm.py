"""Safety monitor: index of the first look at which the running toxicity sum passes the limit.

Claim: pure epsilon = 1.6 for one replaced patient.  Output -1 means no alarm.
Proof.  Replacing entry i by one larger by c <= 1 lifts all sums from look i on by c; earlier ones stay.
Write P1 for the lower input, P2 for the higher one; an alarm before look i has the same law for both.
P1 <= e^eps P2: raise the limit by c; looks from i on compare as before, earlier quiet looks stay quiet.
P2 <= e^eps P1: keep the limit; looks that are quiet on the higher input are quiet on the lower one, and the
noise of the alarm look alone is raised by c (for -1 nothing is raised).  Each direction moves one Laplace
variable of scale 1/eps by at most 1, so that scale is enough for the limit and for every look.
"""
import numpy as np

EPSILON = 1.6
LIMIT = 4.0


def release(data, size, rng):
    sums = np.cumsum(np.asarray(data, dtype=float))
    scale = 1.0 / EPSILON
    limit = LIMIT + rng.laplace(0.0, scale, size=(size, 1))
    looks = sums[None, :] + rng.laplace(0.0, scale, size=(size, len(sums)))
    over = looks >= limit
    first = over.argmax(axis=1)
    return np.where(over.any(axis=1), first, -1)


_CALM = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0])
_SICK = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0])
_LATE = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
_NONE = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
release.neighbours = [(_CALM, _SICK), (_NONE, _LATE)]
