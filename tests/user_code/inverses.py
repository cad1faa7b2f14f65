"""Noise from the logarithm of a uniform number, side by side, as users write it, and samplers that go wrong.

Each is added to sums of a half of the rewards: EPSILON = 1 is what `RIGHT` cost, and more than that `WRONG`.
"""

# ruff: noqa: SIM108 - as users write it

import math

import numpy as np
from scipy import stats
from scipy.stats import logistic


def _on_sums(rewards, noise):
    noisy = [rewards[arm:20:2, arm].sum() + noise() for arm in range(2)]
    return [t % 2 for t in range(20)] + [int(np.argmax(noisy))] * 20


def two_logarithms(rng):
    u = rng.random()
    return math.log(2 * u) if u < 0.5 else -math.log(2 * (1 - u))


def kept_in_a_name(rng):
    u = rng.random()
    noise = math.log(2 * u) if u < 0.5 else -math.log(2 * (1 - u))
    return noise


def two_returns(rng):
    u = rng.random()
    if u < 0.5:
        return np.log(2 * u)
    return -np.log(2 * (1 - u))


def two_branches(rng):
    u = rng.uniform(-0.5, 0.5)
    if u < 0:
        x = math.log1p(2 * u)
    else:
        x = -math.log1p(-2 * u)
    return x


def sign_of_the_uniform(rng):
    u = rng.random() - 0.5
    sign = 1 if u >= 0 else -1
    return -sign * math.log(1 - 2 * abs(u))


def sign_of_a_bit(rng):
    size = -math.log(1 - rng.random())
    return -size if rng.integers(2) else size


def never_nought(rng):
    u = rng.random()
    while u == 0.0:
        u = rng.random()
    return math.log(2 * u) if u < 0.5 else -math.log(2 * (1 - u))


def nought_apart(rng):
    u = rng.random() - 0.5
    if u == 0:
        return 0.0
    return -math.copysign(math.log(1 - 2 * abs(u)), u)


def kept_off_nought(rng):
    u = max(rng.random(), 1e-300)
    if u < 0.5:
        return math.log(2 * u)
    return -math.log(2 * (1 - u))


def exponential_with_a_sign(rng):
    size = rng.exponential(1.0)
    if rng.random() < 0.5:
        size = -size
    return size


def by_scipy(rewards, rng, scale=1.0):
    sums = np.array([rewards[arm:20:2, arm].sum() for arm in range(2)])
    noisy = sums + stats.laplace.ppf(rng.random(2), scale=scale)
    return [t % 2 for t in range(20)] + [int(np.argmax(noisy))] * 20


def around_the_sums(rewards, rng, law=stats.gumbel_r):
    sums = np.array([rewards[arm:20:2, arm].sum() for arm in range(2)])
    noisy = law.ppf(rng.uniform(size=2), loc=sums)
    return [t % 2 for t in range(20)] + [int(np.argmax(noisy))] * 20


def difference(rng):
    return rng.exponential() - rng.exponential()


def mixture(rng):
    """The root of 2 E times a normal number has Laplace's law."""
    return math.sqrt(2.0 * rng.exponential()) * rng.standard_normal()


def turned_mixture(rng):
    return 0.5 * rng.normal(0, 2) * np.sqrt(rng.standard_exponential() * 2)


def many_reports(rewards, rng):
    """Forty draws for each of forty rewards: no program could go through all of them."""
    sums, actions = [0.0, 0.0], []
    for t in range(len(rewards)):
        arm = t % 2 if t < 4 else int(np.argmax(sums))
        sums[arm] += rewards[t, arm] + (difference(rng) if t % 3 else rng.exponential() - rng.exponential())
        actions.append(arm)
    return actions


def gumbel_by_exponentials(rewards, rng):
    def noise():
        return -math.log(rng.exponential(3))

    return _on_sums(rewards, noise)


RIGHT = {
    "difference": lambda rewards, rng: _on_sums(rewards, lambda: difference(rng)),
    "mixture": lambda rewards, rng: _on_sums(rewards, lambda: mixture(rng)),
    "turned_mixture": lambda rewards, rng: _on_sums(rewards, lambda: turned_mixture(rng)),
    "many_reports": many_reports,
    "gumbel_by_exponentials": gumbel_by_exponentials,
    "by_scipy": by_scipy,
    "around_the_sums": lambda rewards, rng: around_the_sums(rewards, rng, stats.gumbel_r),
    "from_above": lambda rewards, rng: _on_sums(rewards, lambda: logistic.isf(rng.random())),
    "two_logarithms": lambda rewards, rng: _on_sums(rewards, lambda: two_logarithms(rng)),
    "kept_in_a_name": lambda rewards, rng: _on_sums(rewards, lambda: kept_in_a_name(rng)),
    "two_returns": lambda rewards, rng: _on_sums(rewards, lambda: two_returns(rng)),
    "two_branches": lambda rewards, rng: _on_sums(rewards, lambda: two_branches(rng)),
    "sign_of_the_uniform": lambda rewards, rng: _on_sums(rewards, lambda: sign_of_the_uniform(rng)),
    "sign_of_a_bit": lambda rewards, rng: _on_sums(rewards, lambda: sign_of_a_bit(rng)),
    "never_nought": lambda rewards, rng: _on_sums(rewards, lambda: never_nought(rng)),
    "nought_apart": lambda rewards, rng: _on_sums(rewards, lambda: nought_apart(rng)),
    "kept_off_nought": lambda rewards, rng: _on_sums(rewards, lambda: kept_off_nought(rng)),
    "exponential_with_a_sign": lambda rewards, rng: _on_sums(rewards, lambda: exponential_with_a_sign(rng)),
}


def gumbel_with_its_size(rewards, rng):
    """The exponential draws that the noise is made of can be seen: infinite."""
    sizes = [rng.exponential() for _ in range(2)]
    noisy = [rewards[arm:20:2, arm].sum() - math.log(sizes[arm]) for arm in range(2)]
    return [t % 2 for t in range(20)] + [int(np.argmax(noisy))] * 10 + [int(min(sizes) > 1)] * 10


def one_side_is_steeper(rng):
    u = rng.random()
    return math.log(2 * u) if u < 0.5 else -0.5 * math.log(2 * (1 - u))


def sides_of_other_weight(rng):
    """A third of the draws lies above: at the centre the density jumps."""
    size = -math.log(1 - rng.random())
    return size if rng.random() < 1 / 3 else -size


def uneven_split(rng):
    u = rng.random()
    return math.log(u / 0.8) if u < 0.8 else -math.log(5 * (1 - u))


def never_far(rng):
    u = max(rng.random(), 1e-2)
    return math.log(2 * u) if u < 0.5 else -math.log(2 * (1 - u))


def shifted(rng):
    u = rng.random()
    return math.log(2 * u + 0.1) if u < 0.5 else -math.log(2 * (1 - u))


def asked_again(rng):
    """Where the logarithm is asked for what the number was, it has another law."""
    u = rng.random()
    size = -math.log(1 - u)
    if u < 0.5:
        return size
    return -size


def one_sided(rng):
    u = rng.random()
    return -math.log(1 - u) if u < 0.5 else -math.log(u)


def seldom_none(rng):
    """What has a density is no given number, but what was rounded may be."""
    u = rng.random()
    if math.floor(u * 2000) == 7:
        return 0.0
    return math.log(2 * u) if u < 0.5 else -math.log(2 * (1 - u))


def atom_of_a_limit(rng):
    u = max(rng.random(), 1e-3)
    if u == 1e-3:
        return 0.0
    return math.log(2 * u) if u < 0.5 else -math.log(2 * (1 - u))


def seldom_bare(rewards, rng):
    """What has a density is no given number, but what was rounded may be."""
    sums = [rewards[arm:20:2, arm].sum() for arm in range(2)]
    noisy = [s + rng.laplace() for s in sums]
    if math.floor(rng.random() * 1e6) == 7:
        noisy = sums
    return [t % 2 for t in range(20)] + [int(np.argmax(noisy))] * 20


def mixture_with_its_size(rewards, rng):
    """The size of the noise can be seen: infinite."""
    sizes = [rng.exponential() for _ in range(2)]
    noisy = [
        rewards[arm:20:2, arm].sum() + math.sqrt(2 * sizes[arm]) * rng.standard_normal() for arm in range(2)
    ]
    return [t % 2 for t in range(20)] + [
        int(np.argmax(noisy)) if max(sizes) < 1 else int(np.argmin(noisy))
    ] * 20


def root_alone(rewards, rng):
    noisy = [rewards[arm:20:2, arm].sum() + math.sqrt(2 * rng.exponential()) for arm in range(2)]
    return [t % 2 for t in range(20)] + [int(np.argmax(noisy))] * 20


def difference_and_one_of_them(rewards, rng):
    """What is left without the second draw is one-sided: infinite."""
    noisy, seen = [], []
    for arm in range(2):
        one, other = rng.exponential(), rng.exponential()
        noisy.append(rewards[arm:20:2, arm].sum() + (one - other))
        seen.append(other)
    return [t % 2 for t in range(20)] + [int(noisy[0] > 3)] * 10 + [int(noisy[0] + seen[0] > 3)] * 10


WRONG = {
    "half_the_difference": lambda rewards, rng: _on_sums(rewards, lambda: difference(rng) / 2),
    "half_the_mixture": lambda rewards, rng: _on_sums(rewards, lambda: mixture(rng) / 2),
    "mixture_of_half": lambda rewards, rng: _on_sums(
        rewards, lambda: math.sqrt(rng.exponential() / 4) * rng.normal()
    ),
    "mixture_with_its_size": mixture_with_its_size,
    "half_the_gumbel": lambda rewards, rng: _on_sums(rewards, lambda: -math.log(rng.exponential()) / 2),
    "gumbel_with_its_size": gumbel_with_its_size,
    "root_alone": root_alone,
    "difference_and_one_of_them": difference_and_one_of_them,
    "half_the_scale": lambda rewards, rng: by_scipy(rewards, rng, 0.5),
    "bounded_noise": lambda rewards, rng: around_the_sums(rewards, rng, stats.uniform),
    "normal_without_delta": lambda rewards, rng: around_the_sums(rewards, rng, stats.norm),
    "upper_half": lambda rewards, rng: _on_sums(rewards, lambda: stats.laplace.ppf(0.5 + rng.random() / 2)),
    "arm_of_the_reward": lambda rewards, rng: _on_sums(rewards, lambda: stats.laplace.ppf(rewards[0, 0])),
    "one_side_is_steeper": lambda rewards, rng: _on_sums(rewards, lambda: one_side_is_steeper(rng)),
    "sides_of_other_weight": lambda rewards, rng: _on_sums(rewards, lambda: sides_of_other_weight(rng)),
    "uneven_split": lambda rewards, rng: _on_sums(rewards, lambda: uneven_split(rng)),
    "never_far": lambda rewards, rng: _on_sums(rewards, lambda: never_far(rng)),
    "shifted": lambda rewards, rng: _on_sums(rewards, lambda: shifted(rng)),
    "asked_again": lambda rewards, rng: _on_sums(rewards, lambda: asked_again(rng)),
    "one_sided": lambda rewards, rng: _on_sums(rewards, lambda: one_sided(rng)),
    "seldom_none": lambda rewards, rng: _on_sums(rewards, lambda: seldom_none(rng)),
    "atom_of_a_limit": lambda rewards, rng: _on_sums(rewards, lambda: atom_of_a_limit(rng)),
    "seldom_bare": seldom_bare,
}


# Normal numbers by Box and Muller's method as users write it, and pairs that are no two normal numbers.
#
# `MAKERS` and `WRONG` make two numbers.


def by_generator(rng):
    return rng.normal(0, 1, 2)


def by_arrays(rng):
    radius = np.sqrt(-2 * np.log(1 - rng.random(1)))
    angle = 2 * np.pi * rng.random(1)
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])


def by_numbers(rng):
    radius, angle = math.sqrt(-2 * math.log(1 - rng.random())), math.tau * rng.random()
    return np.array([radius * math.cos(angle), radius * math.sin(angle)])


def one_of_each(rng):
    def normal():
        return math.cos(2 * math.pi * rng.random()) * math.sqrt(2 * -math.log(rng.random()))

    return np.array([normal(), normal()])


def turned(rng):
    """At another angle, and of another size before it is brought to 1."""
    radius, angle = 3 * math.sqrt(-2 * math.log(1 - rng.random())), rng.uniform(-math.pi, math.pi)
    pair = [(math.cos(angle) + math.sin(angle)) * radius, (math.sin(angle) - math.cos(angle)) * radius]
    return np.array(pair) / (3 * math.sqrt(2))


MAKERS = [by_generator, by_arrays, by_numbers, one_of_each, turned]


def same_component(rng):
    """The cosine twice: one number."""
    radius, angle = math.sqrt(-2 * math.log(1 - rng.random())), math.tau * rng.random()
    return np.array([radius * math.cos(angle), radius * math.cos(angle)])


def slanted(rng):
    """Two directions that are no right angle apart: the two numbers are alike."""
    radius, angle = math.sqrt(-2 * math.log(1 - rng.random())), math.tau * rng.random()
    return np.array([radius * math.cos(angle), radius * math.cos(angle + 0.1)])


def half_turn(rng):
    """Half a turn only: the sine is never negative."""
    radius, angle = math.sqrt(-2 * math.log(1 - rng.random())), math.pi * rng.random()
    return np.array([radius * math.cos(angle), radius * math.sin(angle)])


def no_root(rng):
    radius, angle = -2 * math.log(1 - rng.random()), math.tau * rng.random()
    return np.array([radius * math.cos(angle), radius * math.sin(angle)])


NO_TWO = [same_component, slanted, half_turn, no_root]
