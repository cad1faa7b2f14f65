"""Private upper quartile on a public grid by permute-and-flip, in its exponential-noise form (Ding et al. 2021).

Score of grid point g: u(g) = -|#{x < g} - 0.75 n|, n public.  Replacing one entry moves each count by at most 1, so
each u(g) by at most 1, some up and some down: take noise Exp of scale 2 / EPSILON.  With the other noises fixed, g wins
when E_g > max_{h != g}(u(h) + E_h) - u(g); the bar moves by at most 2 between neighbours and P(E > c) changes by a
factor <= e^{2 EPSILON / 2} = e^EPSILON when c moves by 2.  Averaging over the other noises keeps the factor.
"""
import numpy as np

EPSILON = 1.2
LEVEL = 0.75
GRID = tuple(k / 8 for k in range(9))


def score(data, g):
    return -abs(sum(1 for x in data if x < g) - LEVEL * len(data))


def release_one(data, rng):
    noisy = ((score(data, g) + rng.exponential(2 / EPSILON), g) for g in GRID)
    return max(noisy)[1]


_left = np.array([0.1, 0.1, 0.1, 0.3, 0.3, 0.55, 0.9, 0.9])
_right = _left.copy()
_right[5] = 0.95
_low = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
_high = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0])
release_one.neighbours = [(_left, _right), (_low, _high)]
