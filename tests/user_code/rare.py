"""Noise whose size follows from public chance without a branch: leaks that are hardly ever seen.

EPSILON = 1 is claimed of each. `FOUND` are three that an attack on the bounds came up with, `LEAKS` ten more
of that kind, `OWN` those whose noise is made of uniform draws or by weights; what those in `ENDS` do shows
where all draws come out alike. Those in `RIGHT` keep it.
"""

# ruff: noqa: B905, C420 - as users write it

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


# ---------------------------------------------------------------- in noise of the user's own making


def _odd(rewards, rng, usual=1.0, seldom=1e-3):
    """Arms, their sums and a number that is another one after a certain row of arms."""
    arms, sums = _explored(rewards, rng)
    table = [usual] * 3000
    table[1234] = seldom
    return arms, sums, table[sum(arm * 2**t for t, arm in enumerate(arms[:11]))]


def _told(rewards, arms, answer):
    return arms + [int(answer)] * (len(rewards) - len(arms))


def gumbel_by_logarithms(rewards, rng):
    arms, sums, scale = _odd(rewards, rng)
    return _told(rewards, arms, np.argmax([s - 2 * scale * math.log(-math.log(rng.random())) for s in sums]))


def logistic_of_an_array(rewards, rng):
    arms, sums, scale = _odd(rewards, rng)
    u = rng.random(2)
    return _told(rewards, arms, np.argmax(np.array(sums) + scale * np.log(u / (1 - u))))


def divided(rewards, rng):
    arms, sums, steep = _odd(rewards, rng, 1.0, 1e3)
    return _told(rewards, arms, np.argmax([s - math.log(-math.log(rng.random())) / steep * 2 for s in sums]))


def sign_of_one_number(rewards, rng):
    arms, sums, scale = _odd(rewards, rng)
    us = [rng.random() - 0.5 for _ in sums]
    noisy = [s - scale * math.copysign(math.log(1 - 2 * abs(u)), u) for s, u in zip(sums, us, strict=True)]
    return _told(rewards, arms, np.argmax(noisy))


def sign_of_another(rewards, rng):
    arms, sums, scale = _odd(rewards, rng)
    signs = [1 if rng.random() < 0.5 else -1 for _ in sums]
    noisy = [s - sign * scale * math.log(1 - rng.random()) for s, sign in zip(sums, signs, strict=True)]
    return _told(rewards, arms, np.argmax(noisy))


def normal_of_two(rewards, rng):
    """Not for its pure epsilon: of normal noise there is none, but first comes that of the scale."""
    arms, sums, scale = _odd(rewards, rng)
    sizes = [scale * math.sqrt(-2 * math.log(1 - rng.random())) for _ in sums]
    noisy = [s + 4 * size * math.cos(2 * math.pi * rng.random()) for s, size in zip(sums, sizes, strict=True)]
    return _told(rewards, arms, np.argmax(noisy))


def uniform_kept_high(rewards, rng):
    arms, sums, least = _odd(rewards, rng, 0.0, 0.999)
    noisy = [s - 2 * math.log(-math.log(max(rng.random(), least))) for s in sums]
    return _told(rewards, arms, np.argmax(noisy))


def uniform_moved(rewards, rng):
    arms, sums, part = _odd(rewards, rng)
    noisy = [s - 2 * math.log(-math.log(1 - part + rng.random() * part)) for s in sums]
    return _told(rewards, arms, np.argmax(noisy))


def truth_told(rewards, rng):
    """Randomised response that always tells the truth after a certain row of arms."""
    arms, _, flip = _odd(rewards, rng, 0.27, 1e-9)
    bit = int(rewards[len(arms), 0] > 0.5)
    if rng.random() < flip:
        bit = 1 - bit
    return _told(rewards, [*arms, 0], bit)


def truth_by_arrays(rewards, rng):
    arms, _, keep = _odd(rewards, rng, 0.73, 1 - 1e-9)
    chances = np.where(rewards[len(arms) :, 0] > 0.5, keep, 1 - keep)
    told = rng.random(len(chances)) < chances
    return arms + [0] * (len(chances) - 1) + [int(told[0])]


def truth_by_a_binomial(rewards, rng):
    arms, _, keep = _odd(rewards, rng, 0.73, 1 - 1e-9)
    bit = int(rewards[len(arms), 0] > 0.5)
    return _told(rewards, [*arms, 0], rng.binomial(1, keep if bit else 1 - keep))


def steep_softmax(rewards, rng):
    arms, sums, scale = _odd(rewards, rng)
    weights = np.exp((np.array(sums) - max(sums)) / (2 * scale))
    return _told(rewards, arms, rng.choice(2, p=weights / weights.sum()))


def large_base(rewards, rng):
    arms, sums, base = _odd(rewards, rng, math.exp(0.1), math.exp(5))
    weights = [base**s for s in sums]
    return _told(rewards, arms, rng.random() < weights[0] / (weights[0] + weights[1]))


def wide_clip(rewards, rng):
    arms, sums, most = _odd(rewards, rng, 0.1, 1.0)
    noisy = [np.clip(s, 0, most) + rng.laplace(0, 0.1) for s in sums]
    return _told(rewards, arms, np.argmax(noisy))


def high_limit(rewards, rng):
    arms, sums, most = _odd(rewards, rng, 0.1, 1.0)
    noisy = [min(s, most) + rng.laplace(0, 0.1) for s in sums]
    return _told(rewards, arms, np.argmax(noisy))


def _geometric(rng, chance):
    n = 0
    while rng.random() < chance:
        n += 1
    return n


def coins_of_a_table(rewards, rng):
    arms, _, chance = _odd(rewards, rng, 0.36, 1e-9)
    ones = sum(int(rewards[t, 0] > 0.5) for t in range(len(arms), len(rewards) - 1))
    told = ones + _geometric(rng, chance) - _geometric(rng, chance) > 4
    return arms + [0] * (len(rewards) - len(arms) - 1) + [int(told)]


class Coins:
    """Keeps the chance that a method uses."""

    def __init__(self, rng):
        self.rng, self.chance = rng, 0.36

    def draw(self):
        n = 0
        while self.rng.random() < self.chance:
            n += 1
        return n


def coins_of_an_attribute(rewards, rng):
    coins = Coins(rng)
    arms, _, coins.chance = _odd(rewards, rng, 0.36, 1e-9)
    ones = sum(int(rewards[t, 0] > 0.5) for t in range(len(arms), len(rewards) - 1))
    told = ones + coins.draw() - coins.draw() > 4
    return arms + [0] * (len(rewards) - len(arms) - 1) + [int(told)]


def coins_in_a_loop(rewards, rng):
    arms, _, chance = _odd(rewards, rng, 0.36, 1e-9)
    ones = sum(int(rewards[t, 0] > 0.5) for t in range(len(arms), len(rewards) - 1))
    more, less = 0, 0
    while rng.random() < chance:
        more += 1
    while rng.random() < chance:
        less += 1
    return arms + [0] * (len(rewards) - len(arms) - 1) + [int(ones + more - less > 4)]


OWN = [
    gumbel_by_logarithms,
    logistic_of_an_array,
    divided,
    sign_of_one_number,
    sign_of_another,
    normal_of_two,
    uniform_kept_high,
    uniform_moved,
    truth_told,
    truth_by_arrays,
    truth_by_a_binomial,
    steep_softmax,
    large_base,
    wide_clip,
    high_limit,
    coins_of_a_table,
    coins_of_an_attribute,
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


# Noise whose size follows from public chance, and is never smaller than it has to be: twins of `rare`.
#
# EPSILON = 1 is claimed of each in `RIGHT`.


def _followed(rewards, arms, sums, scale, rng):
    """The arm with the larger noisy sum in the second half."""
    noisy = [s + rng.laplace(0, scale) for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def more_with_arms(rewards, rng):
    """More noise, the more arms came."""
    arms, sums = _explored(rewards, rng)
    return _followed(rewards, arms, sums, (1 + sum(arms)) / EPSILON, rng)


def means(rewards, rng):
    """Means of as many pulls as there were."""
    arms, sums = _explored(rewards, rng)
    pulls = [max(1, arms.count(arm)) for arm in range(2)]
    noisy = [s / n + rng.laplace(0, 1 / (EPSILON * n)) for s, n in zip(sums, pulls)]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def means_by_bincount(rewards, rng):
    """The same with arrays."""
    arms, sums = _explored(rewards, rng)
    pulls = np.maximum(np.bincount(arms, minlength=2), 1)
    noisy = np.array(sums) / pulls + rng.laplace(0, 1, 2) / (EPSILON * pulls)
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def means_by_masks(rewards, rng):
    """The same with counts of a comparison."""
    arms, sums = _explored(rewards, rng)
    pulls = [max(1, sum(a == arm for a in arms)) for arm in range(2)]
    noisy = [s / n + rng.laplace(0, 1 / (EPSILON * n)) for s, n in zip(sums, pulls)]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def table_by_round(rewards, rng):
    """A table of scales is read in a fixed order."""
    table, found = {0: 2.0, 1: 4.0, 2: 4.0}, []
    total = rewards[:10, 0].sum()
    for i in range(3):
        found.append(total + rng.laplace(0, table[i] / EPSILON))
    return [0] * 10 + [int(y > 5) for y in found] * 10


def get_by_round(rewards, rng):
    """The same with a default."""
    found, total = [], rewards[:10, 0].sum()
    for i in range(2):
        found.append(total + rng.laplace(0, {0: 2.0}.get(i, 2.0) / EPSILON))
    return [0] * 10 + [int(y > 5) for y in found] * 15


def set_of_arms(rewards, rng):
    """Which arms came decides nothing about the noise."""
    arms, sums = _explored(rewards, rng)
    unseen = 2 - len(set(arms))
    best = int(np.argmax([s + rng.laplace(0, 1 / EPSILON) for s in sums]))
    return arms + [(best + unseen) % 2] * (len(rewards) - len(arms))


def budget_by_round(rewards, rng):
    """A geometric share of epsilon for each phase, by remainders of the round."""
    arms, total, share = [], 0.0, 0
    for t in range(len(rewards)):
        if t % 10 == 0:
            noisy = total + rng.laplace(0, 1 / (EPSILON * (1 - 0.5 * (t % 20 == 30))))
            total, share = 0.0, int(noisy > 5)
        arms.append(share)
        total += rewards[t, share]
    return arms


def branch_by_pattern(rewards, rng):
    """More noise after a certain row of arms."""
    arms, sums = _explored(rewards, rng)
    scale = 1 / EPSILON
    if sum(arms) > 10:
        scale = 2 / EPSILON
    return _followed(rewards, arms, sums, scale, rng)


def flagged(rewards, rng):
    """A comparison as a number that counts, and is shown, beside the noise."""
    arms, sums = _explored(rewards, rng)
    flag = int(arms[0] == arms[1])
    noisy = [s + rng.laplace(0, 1 / EPSILON) + 0.5 * flag for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


# ---------------------------------------------------------------- of noise of the user's own making


def gumbel_by_counts(rewards, rng):
    """More noise, the more arms came, by logarithms."""
    arms, sums = _explored(rewards, rng)
    scale = (1 + sum(arms)) / EPSILON
    noisy = [s / (1 + sum(arms)) - scale * math.log(-math.log(rng.random())) / (1 + sum(arms)) for s in sums]
    return arms + [int(np.argmax(noisy))] * (len(rewards) - len(arms))


def softmax_of_means(rewards, rng):
    """Weights that are less steep, the more pulls there were."""
    arms, sums = _explored(rewards, rng)
    pulls = 1 + len(arms) + sum(arms)
    weights = np.exp(np.array(sums) / pulls * (EPSILON * pulls))
    return arms + [int(rng.choice(2, p=weights / weights.sum()))] * (len(rewards) - len(arms))


def powers(rewards, rng):
    """Weights as powers of a number that is always the same."""
    arms, sums = _explored(rewards, rng)
    weights = [math.exp(EPSILON) ** s for s in sums]
    return arms + [int(rng.random() < weights[1] / sum(weights))] * (len(rewards) - len(arms))


RIGHT = [
    more_with_arms,
    means,
    means_by_bincount,
    means_by_masks,
    table_by_round,
    get_by_round,
    set_of_arms,
    budget_by_round,
    branch_by_pattern,
    flagged,
    gumbel_by_counts,
    softmax_of_means,
    powers,
]

# A sum of drawn numbers is taken for more than a count, so that they have no bound any more.
SUMS = [more_with_arms, gumbel_by_counts, softmax_of_means]
