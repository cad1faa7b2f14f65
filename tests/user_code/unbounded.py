"""Leaks that look like the bandits of `bounded.py`: EPSILON = 1 is claimed of each, and none keeps it.

None may get an upper bound of 1 or less. They break one thing each: scale, sensitivity, reuse of noise, a
branch, a tie, chances, the law of made noise.
"""

from __future__ import annotations

import copy
import math

import numpy as np

EPSILON = 1.0


def _explored(rewards):
    horizon, n_arms = rewards.shape
    sums = np.zeros(n_arms)
    for t in range(horizon // 2):
        sums[t % n_arms] += rewards[t, t % n_arms]
    return sums


def _committed(rewards, arm):
    horizon, n_arms = rewards.shape
    arms = np.arange(horizon) % n_arms
    arms[horizon // 2 :] = arm
    return arms


def noisy_max_half(rewards, rng):
    return _committed(rewards, np.argmax(_explored(rewards) + rng.laplace(0, 0.5, rewards.shape[1])))


def noisy_max_of_doubled(rewards, rng):
    return _committed(rewards, np.argmax(2 * _explored(rewards) + rng.laplace(0, 1, rewards.shape[1])))


def one_draw_for_all(rewards, rng):
    return _committed(rewards, np.argmax(_explored(rewards) + rng.laplace(0, 1)))


def noise_on_one(rewards, rng):
    sums = _explored(rewards)
    sums[0] += rng.laplace(0, 1)
    sums[1] += 0.1
    return _committed(rewards, np.argmax(sums[::-1] - sums[::-1].min()))


def noisy_max_and_value(rewards, rng):
    """The largest noisy sum is told, too, by the parity of its whole part."""
    noisy = _explored(rewards) + rng.exponential(1, rewards.shape[1])
    arms = _committed(rewards, np.argmax(noisy))
    arms[-1] = int(noisy.max()) % 2
    return arms


def two_winners(rewards, rng):
    """The same sums, two draws of noise."""
    sums = _explored(rewards)
    arms = _committed(rewards, np.argmax(sums + rng.gumbel(size=len(sums))))
    arms[-1] = np.argmax(sums + rng.gumbel(size=len(sums)))
    return arms


def gumbel_by_half(rewards, rng):
    u = rng.random(rewards.shape[1])
    return _committed(rewards, np.argmax(_explored(rewards) - 0.5 * np.log(-np.log(u))))


def clipped_noise(rewards, rng):
    noise = np.clip(rng.laplace(0, 1, rewards.shape[1]), -2, 2)
    return _committed(rewards, np.argmax(_explored(rewards) + noise))


def rounded_noise(rewards, rng):
    noise = np.rint(rng.laplace(0, 1, rewards.shape[1]))
    return _committed(rewards, np.argmax(_explored(rewards) + noise))


def clipped_uniform(rewards, rng):
    u = np.clip(rng.random(rewards.shape[1]), 0.01, 0.99)
    return _committed(rewards, np.argmax(_explored(rewards) - np.log(-np.log(u))))


def uniform_noise(rewards, rng):
    return _committed(rewards, np.argmax(_explored(rewards) + rng.uniform(-5, 5, rewards.shape[1])))


def inverse_with_a_wrong_factor(rewards, rng):
    """1 - |u| in place of 1 - 2|u|: the noise has an end."""
    u = rng.random(rewards.shape[1]) - 0.5
    noise = -np.sign(u) * np.log(1 - np.abs(u))
    return _committed(rewards, np.argmax(_explored(rewards) + noise))


def one_uniform_for_all(rewards, rng):
    u = rng.random()
    noise = -math.log(-math.log(u))
    return _committed(rewards, np.argmax(_explored(rewards) + np.array([noise, 0.0])[: rewards.shape[1]]))


def same_uniform_twice(rewards, rng):
    u = rng.random()
    first, second = _explored(rewards)
    return _committed(rewards, int(second - math.log(-math.log(u)) > first - math.log(-math.log(u))))


def chances_twice_as_steep(rewards, rng):
    weights = np.exp(2 * _explored(rewards))
    return _committed(rewards, rng.choice(len(weights), p=weights / weights.sum()))


def proportional_chances(rewards, rng):
    sums = _explored(rewards) + 0.1
    return _committed(rewards, rng.choice(len(sums), p=sums / sums.sum()))


def clipped_chances(rewards, rng):
    """Chances below .05 are set to 0 and the others grow, so that an outcome may become impossible."""
    weights = np.exp(_explored(rewards))
    chances = weights / weights.sum()
    chances = np.where(chances < 0.05, 0.0, chances)
    return _committed(rewards, rng.choice(len(chances), p=chances / chances.sum()))


def unshifted_search(rewards, rng):
    """Searches for a draw among weights that do not add up to 1."""
    weights = np.exp(_explored(rewards) - 3)
    return _committed(rewards, min(int(np.searchsorted(np.cumsum(weights), rng.random())), len(weights) - 1))


def flip_without_the_best(rewards, rng):
    """Permute and flip whose chances refer to a fixed number, and stop after one round."""
    sums = _explored(rewards)
    for arm in rng.permutation(len(sums)):
        if rng.random() < np.exp(np.minimum(sums[arm] - 5.0, 0.0)):
            return _committed(rewards, arm)
    return _committed(rewards, 0)


def flip_and_count(rewards, rng):
    """Permute and flip, and how many were flipped."""
    sums, flips = _explored(rewards), 0
    best = sums.max()
    for arm in rng.permutation(len(sums)):
        flips = flips + 1
        if rng.random() < np.exp(sums[arm] - best):
            arms = _committed(rewards, arm)
            arms[-1] = flips % 2
            return arms
    return _committed(rewards, 0)


def flip_in_order(rewards, rng):
    """Coins without a permutation."""
    sums = _explored(rewards)
    best = sums.max()
    for arm in range(len(sums)):
        if rng.random() < np.exp(sums[arm] - best):
            return _committed(rewards, arm)
    return _committed(rewards, 0)


def flip_twice_as_steep(rewards, rng):
    sums = _explored(rewards)
    best = sums.max()
    for arm in rng.permutation(len(sums)):
        if rng.random() < np.exp(2 * (sums[arm] - best)):
            return _committed(rewards, arm)
    return _committed(rewards, 0)


def rejection_and_count(rewards, rng):
    n_arms = rewards.shape[1]
    sums, tries = rewards[:4].sum(axis=0), 0
    while True:
        tries += 1
        arm = rng.integers(n_arms)
        if rng.random() < math.exp(sums[arm] - 4):
            arms = _committed(rewards, arm)
            arms[-1] = tries % n_arms
            return arms


def rejection_stopped(rewards, rng):
    """After twenty proposals the last one is taken."""
    n_arms = rewards.shape[1]
    sums = rewards[:4].sum(axis=0)
    for _ in range(20):
        arm = int(rng.integers(n_arms))
        if rng.random() < math.exp(2 * (sums[arm] - 4)):
            break
    return _committed(rewards, arm)


def flip_and_show_the_rest(rewards, rng):
    """Permute and flip, and the proposal that would have come last."""
    sums = _explored(rewards)
    best, order = sums.max(), rng.permutation(len(sums))
    for arm in order:
        if rng.random() < np.exp(sums[arm] - best):
            arms = _committed(rewards, arm)
            arms[-1] = order[-1]
            return arms
    raise AssertionError("the best one is taken")


def rejection_and_log(rewards, rng):
    """Every proposal is told before its coin is tossed."""
    n_arms = rewards.shape[1]
    sums, told = rewards[:4].sum(axis=0), 0
    while True:
        arm = rng.integers(n_arms)
        told = told + int(arm)
        if rng.random() < math.exp(sums[arm] - 4):
            arms = _committed(rewards, arm)
            arms[-1] = told % n_arms
            return arms


def coin_and_noise_from_one_uniform(rewards, rng):
    """A draw that was compared with a raw chance becomes noise afterwards."""
    sums, u = _explored(rewards), rng.random()
    first = u < 0.4 + 0.2 * rewards[0, 0]
    noisy = sums[0] - math.log(-math.log(u)) - sums[1] + rng.laplace(0, 10)
    arms = _committed(rewards, int(noisy > 0))
    arms[-1] = int(first)
    return arms


def rare_scale_without_a_branch(rewards, rng):
    sums = _explored(rewards)
    scale = np.array([2.0, 0.01])[int(rng.random() < 1e-6)]
    return _committed(rewards, np.argmax(sums + rng.laplace(0, scale, len(sums))))


def response_too_true(rewards, rng):
    horizon, n_arms = rewards.shape
    ones = np.zeros(n_arms)
    for t in range(horizon // 2):
        ones[t % n_arms] += rng.random() < 0.2 + 0.6 * rewards[t, t % n_arms]
    return _committed(rewards, np.argmax(ones))


def response_told_twice(rewards, rng):
    horizon, n_arms = rewards.shape
    low, high = 1 / (1 + math.e), math.e / (1 + math.e)
    ones = np.zeros(n_arms)
    for t in range(horizon // 2):
        for _ in range(2):
            ones[t % n_arms] += rng.random() < low + (high - low) * rewards[t, t % n_arms]
    return _committed(rewards, np.argmax(ones))


def response_by_one_uniform(rewards, rng):
    """The same uniform draw for every reward of the run."""
    horizon, n_arms = rewards.shape
    low, high = 1 / (1 + math.e), math.e / (1 + math.e)
    u, ones = rng.random(), np.zeros(n_arms)
    for t in range(horizon // 2):
        ones[t % n_arms] += u < low + (high - low) * rewards[t, t % n_arms]
    return _committed(rewards, np.argmax(ones))


def response_to_zero(rewards, rng):
    horizon, n_arms = rewards.shape
    ones = np.zeros(n_arms)
    for t in range(horizon // 2):
        ones[t % n_arms] += rng.random() < rewards[t, t % n_arms]
    return _committed(rewards, np.argmax(ones))


def sparse_vector_without_noise(rewards, rng):
    horizon = len(rewards)
    rho, arms, arm, block = rng.laplace(0, 1 / EPSILON), [], 0, 0.0
    for t in range(horizon):
        arms.append(arm)
        block += rewards[t, 0]
        if t % 5 == 4:
            arm = int(block > 2 + rho)
            block = 0.0
    return np.array(arms)


def sparse_vector_of_everything(rewards, rng):
    """The same running sum is compared again and again, with fresh noise, and answered without limit."""
    horizon = len(rewards)
    arms, arm, total = [], 0, 0.0
    for t in range(horizon):
        arms.append(arm)
        total += rewards[t, 0]
        if t % 5 == 4:
            arm = int(total + rng.laplace(0, 1) > t / 2)
    return np.array(arms)


def tree_with_new_nodes(rewards, rng):
    """Every sum adds noise to its nodes anew."""
    horizon, n_arms = rewards.shape
    levels = int(math.log2(horizon)) + 1
    arms = []
    for t in range(horizon):
        arm = t % n_arms
        if t >= 2 * n_arms:
            sums = [sum(rewards[s, a] for s in range(t) if s % n_arms == a) for a in range(n_arms)]
            arm = int(np.argmax([s + rng.laplace(0, levels / EPSILON) for s in sums]))
        arms.append(arm if t > horizon // 2 else t % n_arms)
    return arms


def mean_taken_for_a_sum(rewards, rng):
    """The scale of a mean of all rounds on a mean of half of them."""
    horizon, n_arms = rewards.shape
    means = _explored(rewards) / (horizon // (2 * n_arms))
    return _committed(rewards, np.argmax(means + rng.laplace(0, 1 / (horizon * EPSILON), n_arms)))


def rewards_counted_twice(rewards, rng):
    horizon, n_arms = rewards.shape
    sums = rewards[: horizon // 2].sum(axis=0) + rewards[:4].sum(axis=0)
    return _committed(rewards, np.argmax(sums + rng.laplace(0, 1, n_arms)))


def raw_tie_break(rewards, rng):
    sums = _explored(rewards)
    noisy = np.rint(sums + rng.laplace(0, 1, len(sums)))
    best = np.flatnonzero(noisy == noisy.max())
    return _committed(rewards, max(best, key=lambda arm: sums[arm]))


def rare_branch(rewards, rng):
    sums = _explored(rewards)
    if rng.random() < 1e-4:
        return _committed(rewards, np.argmax(sums))
    return _committed(rewards, np.argmax(sums + rng.laplace(0, 1, len(sums))))


def rare_scale(rewards, rng):
    """The noise shrinks where the first look comes out very large."""
    sums = _explored(rewards)
    first = sums[0] / 2 + rng.laplace(0, 1)
    scale = 0.01 if first > 25 else 2.0
    return _committed(rewards, np.argmax(sums + rng.laplace(0, scale, len(sums))))


def gate(rewards, rng):
    """Exact sums are let through where a noisy number is large, without a branch."""
    sums = _explored(rewards)
    noisy = sums + rng.laplace(0, 1, len(sums))
    shown = np.where(noisy > 30, 1000 * sums, noisy)
    return _committed(rewards, np.argmax(shown))


def swallowed(rewards, rng):
    """What cannot be traced is caught, and something harmless is done instead."""
    sums = _explored(rewards)
    try:
        arm = [0, 1][int(sums[0] > sums[1])]
    except Exception:
        arm = int(np.argmax(sums + rng.laplace(0, 1, len(sums))))
    return _committed(rewards, arm)


def looks_at_the_type(rewards, rng):
    """Behaves where it is given anything but an array."""
    sums = _explored(rewards)
    if type(rewards) is np.ndarray:
        return _committed(rewards, np.argmax(sums))
    return _committed(rewards, np.argmax(sums + rng.laplace(0, 1, len(sums))))


def copied_generator(rewards, rng):
    """The copy draws the same noise again, which is then taken away."""
    sums = _explored(rewards)
    twin = copy.deepcopy(rng)
    noisy = sums + rng.laplace(0, 1, len(sums))
    return _committed(rewards, np.argmax(noisy - twin.laplace(0, 1, len(sums))))


def fixed_noise(rewards, rng):
    sums = _explored(rewards)
    return _committed(rewards, np.argmax(sums + np.random.default_rng(7).laplace(0, 1, len(sums))))


_KEPT = {}


def keeps_noise_between_runs(rewards, rng):
    sums = _explored(rewards)
    if "noise" not in _KEPT:
        _KEPT["noise"] = rng.laplace(0, 1, len(sums))
    return _committed(rewards, np.argmax(sums + _KEPT["noise"]))


def noise_taken_away(rewards, rng):
    sums = _explored(rewards)
    noise = rng.laplace(0, 1, len(sums))
    noisy = sums + noise
    return _committed(rewards, np.argmax(noisy - noise))


def noise_told(rewards, rng):
    """The noise decides an action of its own before it hides the sums."""
    sums = _explored(rewards)
    noise = rng.laplace(0, 1, len(sums))
    arms = _committed(rewards, np.argmax(sums + noise))
    arms[-1] = int(noise[0] > 0.3)
    arms[-2] = int(noise[1] > 0.3)
    arms[-3] = int(noise[0] > noise[1])
    return arms


def data_in_the_scale(rewards, rng):
    sums = _explored(rewards)
    return _committed(rewards, np.argmax(sums + rng.laplace(0, 1 + sums.max() / 10, len(sums))))


def number_of_draws(rewards, rng):
    """How much noise is drawn depends on the data."""
    sums = _explored(rewards)
    noise = rng.laplace(0, 1, len(sums) + int(sums[0] > 5))
    return _committed(rewards, np.argmax(sums + noise[: len(sums)]))


def dictionary_of_rewards(rewards, rng):
    seen = {0.5: 1}
    sums = _explored(rewards)
    bonus = seen.get(rewards[0, 0], 0)
    return _committed(rewards, np.argmax(sums + bonus + rng.laplace(0, 1, len(sums))) if not bonus else 0)


def normal_without_delta(rewards, rng):
    return _committed(rewards, np.argmax(_explored(rewards) + rng.normal(0, 3, rewards.shape[1])))


def lattice_noise_on_reals(rewards, rng):
    sums = _explored(rewards)
    p = 1 - math.exp(-EPSILON)
    noisy = sums + rng.geometric(p, len(sums)) - rng.geometric(p, len(sums))
    arms = _committed(rewards, np.argmax(noisy))
    arms[-1] = int(noisy[0] * 2) % 2
    return arms


def sorted_by_truth(rewards, rng):
    sums = _explored(rewards)
    ranked = sorted(range(len(sums)), key=lambda arm: sums[arm])
    noisy = sums + rng.laplace(0, 1, len(sums))
    return _committed(rewards, ranked[-1] if noisy.max() > 3 else int(np.argmax(noisy)))


LEAKS = [
    f for name, f in list(globals().items()) if callable(f) and not name.startswith("_") and name.islower()
]
