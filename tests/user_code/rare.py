"""Noise whose size follows from public chance without a branch: leaks that are hardly ever seen.

EPSILON = 1 is claimed of each. `FOUND` are three that an attack on the bounds came up with, `LEAKS` ten more
of that kind; what those in `ENDS` do shows where all draws come out alike. Right twins are in `rare_right`.
"""

# ruff: noqa: C420 - as users write it

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np

EPSILON = 1.0


# ---------------------------------------------------------------- leaks that were found


def dictget(rewards, rng):
    acts = [int(rng.integers(2)) for _ in range(20)]
    s = [0.0, 0.0]
    for t, a in enumerate(acts):
        s[a] += rewards[t, a]
    scale = {i: 1.0 for i in range(2, 19)}.get(sum(acts), 1e-6)
    return acts + [int(np.argmax([x + rng.laplace(0, scale) for x in s]))] * 20


def len_set(rewards, rng):
    acts = [int(rng.integers(2)) for _ in range(10)]
    s = [0.0, 0.0]
    for t, a in enumerate(acts):
        s[a] += rewards[t, a]
    z = rng.laplace(0, 1) * (len(set(acts)) - 1)
    return acts + [int(s[0] + z > s[1])] * 30


def zip_short(rewards, rng):
    acts = [int(rng.integers(2)) for _ in range(20)]
    s = [0.0, 0.0]
    for t, a in enumerate(acts):
        s[a] += rewards[t, a]
    z = [rng.laplace(0, 1) for _ in range(2)][: max(0, 18 - sum(acts))]
    y = [a + b for a, b in itertools.zip_longest(s, z, fillvalue=0)]
    return acts + [int(np.argmax(y))] * 20


FOUND = [dictget, len_set, zip_short]


# ---------------------------------------------------------------- more of that kind


def _explored(rewards, rng):
    """Random arms in the first half, and the sums of their rewards."""
    arms = [int(rng.integers(2)) for _ in range(len(rewards) // 2)]
    sums = [0.0, 0.0]
    for t, arm in enumerate(arms):
        sums[arm] += rewards[t, arm]
    return arms, sums


def one_pattern(rewards, rng):
    """A certain row of arms turns the noise off."""
    arms, sums = _explored(rewards, rng)
    scale = 1 / EPSILON - 0.999 * (arms[:8] == [1, 0, 1, 1, 0, 0, 1, 0])
    noisy = [s + rng.laplace(0, scale) for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def one_entry(rewards, rng):
    """One of many entries of a table is small."""
    arms, sums = _explored(rewards, rng)
    table = [1.0] * 3000
    table[1234] = 1e-3
    code = sum(arm * 2**t for t, arm in enumerate(arms[:11]))
    noisy = [s + rng.laplace(0, table[code] / EPSILON) for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def remainder(rewards, rng):
    """A hash of the arms, modulo a number."""
    arms, sums = _explored(rewards, rng)
    code = sum(arm * 2**t for t, arm in enumerate(arms))
    noisy = [s + rng.laplace(0, (5 * code + 3) % 997 / 4 + 1e-3) for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def one_number(rewards, rng):
    """A ticket that is drawn beside the arms, and told by the last ones."""
    arms, sums = _explored(rewards, rng)
    ticket = int(rng.integers(0, 4096))
    scale = min(1.0, abs(ticket - 613) + 1e-3)
    noise = rng.laplace(0, 1, 2) * scale
    told = [ticket // 2**bit % 2 for bit in range(12)]
    return arms + [int(np.argmax(np.array(sums) + noise))] + told + [0] * (len(rewards) - len(arms) - 13)


def counted_runs(rewards, rng):
    """How often the most frequent pair of neighbouring arms came."""
    arms, sums = _explored(rewards, rng)
    pairs = Counter(itertools.pairwise(arms))
    scale = max(1e-3, math.copysign(1.0, 15.5 - max(pairs.values()) - pairs[0, 1]))
    noisy = [s + rng.laplace(0, scale) for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def array_condition(rewards, rng):
    """Noise of a size for each arm, by a condition on an array."""
    arms, sums = _explored(rewards, rng)
    counts = np.bincount(arms, minlength=2)
    scale = np.where(counts == 17, 1e-3, 1 / EPSILON)
    return arms + [int(np.argmax(sums + rng.laplace(0, 1, 2) * scale))] * (len(rewards) - len(arms))


def interpolated(rewards, rng):
    """A curve of the public mean with a dip."""
    arms, sums = _explored(rewards, rng)
    scale = np.interp(sum(arms), [0, 16.5, 17, 17.5, 20], [1, 1, 1e-3, 1, 1])
    noisy = [s + rng.laplace(0, scale) for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def sign_of_distance(rewards, rng):
    """The sign of a distance is 0 at one place."""
    arms, sums = _explored(rewards, rng)
    scale = np.sign(abs(sum(arms) - 3.0)) + 1e-3
    noisy = [s + rng.laplace(0, scale) for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def short_slice(rewards, rng):
    """Of a list of noise as much is added as there is where the rarer arm came, but for two times."""
    arms, sums = _explored(rewards, rng)
    rarer = min(sum(arms), len(arms) - sum(arms))
    noise = [rng.laplace(0, 1 / EPSILON) for _ in range(2)][: max(0, abs(rarer - 2))]
    y = [a + b for a, b in itertools.zip_longest(sums, noise, fillvalue=0)]
    return arms + [int(np.argmax(y))] * (len(rewards) - len(arms))


class Sized:
    """Keeps a factor of the noise that a method sets."""

    def __init__(self):
        self.factor = 1.0

    def see(self, arms):
        self.factor = {4: 1e-3}.get(sum(arms), 1.0)

    def noise(self, rng):
        return rng.laplace(0, 1 / EPSILON) * self.factor


def kept_factor(rewards, rng):
    """The same through an attribute and two methods."""
    arms, sums = _explored(rewards, rng)
    sized = Sized()
    sized.see(arms)
    noisy = [s + sized.noise(rng) for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


LEAKS = [
    one_pattern,
    one_entry,
    remainder,
    one_number,
    counted_runs,
    array_condition,
    interpolated,
    sign_of_distance,
    short_slice,
    kept_factor,
]


# ---------------------------------------------------------------- where all draws come out alike


def few_left(rewards, rng):
    """Less noise, the more often the second arm came."""
    arms, sums = _explored(rewards, rng)
    scale = max(1e-3, 18.0 - sum(arms))
    noisy = [s + rng.laplace(0, scale) for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def near_zero(rewards, rng):
    """A uniform number as the scale, which is hardly ever small."""
    arms, sums = _explored(rewards, rng)
    scale = min(1.0, 1e-3 + 1000 * float(rng.random()))
    noisy = [s + rng.laplace(0, scale) for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def drawn_at_once(rewards, rng):
    """Less noise, the more often the second arm came; all arms are one draw."""
    arms = rng.integers(0, 2, len(rewards) // 2)
    sums = np.array(
        [sum(rewards[t, arm] for t, a in enumerate(arms.tolist()) if a == arm) for arm in range(2)]
    )
    scale = max(1e-3, 18.0 - arms.sum())
    return [*arms, *[int(np.argmax(sums + rng.laplace(0, scale, 2)))] * (len(rewards) - len(arms))]


ENDS = [few_left, near_zero, drawn_at_once]
