"""Private median of five quotes by the exponential mechanism on [0, 1].

release_one(data, rng): data is a vector of five floats in [0, 1], neighbours differ in one entry.
The utility of a point q is minus the distance of its rank #{x <= q} from n/2; one replaced quote moves
it by at most one, so the density is proportional to exp(epsilon * utility / 2).  Claims epsilon = 2.0.
"""
import bisect
import itertools
import math

EPSILON = 2.0


def release_one(data, rng):
    quotes = sorted(min(1.0, max(0.0, float(x))) for x in data)
    n = len(quotes)
    cuts = [0.0, *quotes, 1.0]
    # piece i is [cuts[i], cuts[i+1]) and has i quotes at or below it
    weights = [
        (right - left) * math.exp(-0.5 * EPSILON * abs(i - n / 2))
        for i, (left, right) in enumerate(zip(cuts, cuts[1:]))
    ]
    ladder = list(itertools.accumulate(weights))
    ticket = rng.random() * ladder[-1]
    piece = min(bisect.bisect_right(ladder, ticket), n)
    return cuts[piece] + rng.random() * (cuts[piece + 1] - cuts[piece])
