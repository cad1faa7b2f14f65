"""Leaks that look like the bandits of `bounded.py`: EPSILON = 1 is claimed of each, and none keeps it.

None may get an upper bound of 1 or less. They break one thing each: scale, sensitivity, reuse of noise, a
branch, a tie, chances, the law of made noise.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import random

import numpy as np

from tests.user_code import bounded

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


def inverse_that_ends_early(rewards, rng):
    return bounded.inverse_laplace_in_a_closure(rewards, rng, 1e-3)


def sign_of_another_size(rewards, rng):
    """One number gives all the sizes: what they differ by does not hide the sums."""
    u, signs = rng.random(), rng.random(rewards.shape[1]) - 0.5
    noise = [math.copysign(math.log(u), sign) for sign in signs]
    return _committed(rewards, np.argmax(_explored(rewards) + np.array(noise)))


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


def uniform_clipped_early(rewards, rng):
    """At 1e-10, where doubles do not end: the noise does."""
    u = np.minimum(rng.random(rewards.shape[1]), 1 - 1e-10)
    return _committed(rewards, np.argmax(_explored(rewards) - np.log(-np.log(u))))


def quotient_by_half(rewards, rng):
    sums = _explored(rewards)
    u, v = rng.random(len(sums)), rng.random(len(sums))
    return _committed(rewards, np.argmax(sums + 0.5 * np.log(u / v)))


def quotient_with_one_told(rewards, rng):
    """One of the two uniforms decides an action: what is left of the noise is one-sided."""
    u, v = rng.random(), rng.random()
    arms = _committed(rewards, int(_explored(rewards)[0] + np.log(u / v) > 3))
    arms[-1] = int(u > 0.5)
    return arms


def quotient_twice(rewards, rng):
    """The same quotient hides both sums, and then neither."""
    first, second = _explored(rewards)
    noise = math.log(rng.random() / rng.random())
    return _committed(rewards, int(second + noise > first + noise))


def quotient_of_itself(rewards, rng):
    """One-sided noise, which cannot make up for more."""
    u = rng.random()
    return _committed(rewards, int(_explored(rewards)[0] + np.log(u / (u * u)) > 3))


def secant_by_half(rewards, rng):
    u = rng.random(rewards.shape[1])
    return _committed(rewards, np.argmax(_explored(rewards) + 0.5 * np.log(np.tan(np.pi * u / 2))))


def search_beyond_the_weights(rewards, rng):
    """The draw reaches half of the sum of weights only."""
    cumulative = np.cumsum(np.exp(_explored(rewards)))
    place = int(np.searchsorted(cumulative, 0.5 * rng.random() * cumulative[-1]))
    return _committed(rewards, min(place, len(cumulative) - 1))


def search_twice_with_one_draw(rewards, rng):
    cumulative = np.cumsum(np.exp(_explored(rewards)))
    draw = rng.random() * cumulative[-1]
    arms = _committed(rewards, int(np.searchsorted(cumulative, draw)))
    arms[-1] = int(draw > cumulative[0] / 2)
    return arms


def steeper_coins(rewards, rng):
    weights = [math.exp(1.5 * s) for s in _explored(rewards)]
    rest = sum(weights)
    for arm in range(len(weights) - 1):
        if rng.random() < weights[arm] / rest:
            return _committed(rewards, arm)
        rest -= weights[arm]
    return _committed(rewards, len(weights) - 1)


def coins_tossed_again(rewards, rng):
    """Two rounds of the same coins, both told."""
    weights = [math.exp(s) for s in _explored(rewards)]
    arms = _committed(rewards, int(rng.random() >= weights[0] / sum(weights)))
    arms[-1] = int(rng.random() >= weights[0] / sum(weights))
    return arms


def sign_told(rewards, rng):
    """The sign of the noise decides an action: what is left of it is one-sided."""
    sums = _explored(rewards)
    signs = rng.choice([-1, 1], len(sums))
    arms = _committed(rewards, np.argmax(sums + signs * rng.exponential(1, len(sums))))
    for arm in range(len(sums)):
        arms[-1 - arm] = int(signs[arm] > 0)
    return arms


def size_told(rewards, rng):
    """The size of the noise decides an action."""
    sums = _explored(rewards)
    sizes = rng.exponential(1, len(sums))
    arms = _committed(rewards, np.argmax(sums + rng.choice([-1, 1], len(sums)) * sizes))
    arms[-1] = int(sizes[0] > sizes[1])
    arms[-2] = int(sizes[0] > 1)
    return arms


def signed_by_half(rewards, rng):
    sums = _explored(rewards)
    noise = rng.choice([-0.5, 0.5], len(sums)) * rng.exponential(1, len(sums))
    return _committed(rewards, np.argmax(sums + noise))


def lopsided_sign(rewards, rng):
    sums = _explored(rewards)
    noise = rng.choice([-1, 1], len(sums), p=[0.1, 0.9]) * rng.exponential(1, len(sums))
    return _committed(rewards, np.argmax(sums + noise))


def python_seeded_alike(rewards, rng):
    """Every run draws the same noise."""
    coins = random.Random(7)
    noisy = [s + coins.choice((-1, 1)) * coins.expovariate(EPSILON) for s in _explored(rewards)]
    return _committed(rewards, int(np.argmax(noisy)))


def python_seed_used_twice(rewards, rng):
    """Both sums get the same noise."""
    seed, noisy = int(rng.integers(2**62)), []
    for s in _explored(rewards):
        coins = random.Random(seed)
        noisy.append(s + coins.choice((-1, 1)) * coins.expovariate(EPSILON))
    return _committed(rewards, int(np.argmax(noisy)))


def python_seed_told(rewards, rng):
    seed = int(rng.integers(2**62))
    coins = random.Random(seed)
    noisy = [s + coins.choice((-1, 1)) * coins.expovariate(EPSILON) for s in _explored(rewards)]
    arms = _committed(rewards, int(np.argmax(noisy)))
    for i in range(8):
        arms[i] = seed // 2**i % 2
    return arms


def python_few_seeds(rewards, rng):
    coins = random.Random(int(rng.integers(16)))
    noisy = [s + coins.choice((-1, 1)) * coins.expovariate(EPSILON) for s in _explored(rewards)]
    return _committed(rewards, int(np.argmax(noisy)))


def python_module_by_half(rewards, rng):
    noisy = [s - 0.5 * math.log(-math.log(random.random())) for s in _explored(rewards)]
    return _committed(rewards, int(np.argmax(noisy)))


def python_module_seeded(rewards, rng):
    random.seed(1)
    noisy = [s - math.log(-math.log(random.random())) for s in _explored(rewards)]
    return _committed(rewards, int(np.argmax(noisy)))


def _told(winner, n_arms, rng):
    keep = math.exp(2 * EPSILON) / (math.exp(2 * EPSILON) + n_arms - 1)
    if rng.random() < keep:
        return winner
    other = int(rng.integers(n_arms - 1))
    return other + (other >= winner)


def best_arm_told_too_often(rewards, rng):
    return _committed(rewards, _told(int(np.argmax(_explored(rewards))), rewards.shape[1], rng))


def _told_or_any(winner, n_arms, rng):
    """Of two arms and a half of the budget; but the other arm is never told if the first one wins."""
    if rng.random() < 0.6 or winner == 0:
        return winner
    return int(rng.integers(n_arms))


def best_arm_told_at_times(rewards, rng):
    return _committed(rewards, _told_or_any(int(np.argmax(_explored(rewards))), rewards.shape[1], rng))


def _flipped(bit, coin, rng):
    return bit if coin < math.e / (1 + math.e) and rng.random() < 1 else 1 - bit


def bits_with_one_coin(rewards, rng):
    """Every bit is told with the same coin."""
    horizon, n_arms = rewards.shape
    coin, ones = rng.random(), np.zeros(n_arms)
    for t in range(horizon // 2):
        ones[t % n_arms] += _flipped(rewards[t, t % n_arms] > 0.5, coin, rng)
    return _committed(rewards, np.argmax(ones))


_LOG = []


def _kept(bit, rng):
    answer = bit if rng.random() < math.e / (1 + math.e) else 1 - bit
    _LOG.append(bit)
    return answer


def answer_with_a_log(rewards, rng):
    """The exact bits are kept, and told at the end."""
    horizon, n_arms = rewards.shape
    _LOG.clear()
    ones = np.zeros(n_arms)
    for t in range(horizon // 2):
        ones[t % n_arms] += _kept(rewards[t, t % n_arms] > 0.5, rng)
    arms = _committed(rewards, np.argmax(ones))
    arms[-1] = int(_LOG[0])
    return arms


def _told_of_two(bit, rng):
    return bit if rng.random() < math.e / (1 + math.e) else 1 - bit


def answers_of_a_sum(rewards, rng):
    """The same bit, whether the first arm is better, is told twice."""
    sums = _explored(rewards)
    bit = sums[0] > sums[1]
    arms = _committed(rewards, _told_of_two(bit, rng))
    arms[-1] = _told_of_two(bit, rng)
    return arms


def rare_draw_counted(rewards, rng):
    """What happens once in a million is counted, and lets the exact sums through."""
    sums, rare = _explored(rewards), []
    if rng.integers(10**6) == 7:
        rare.append(1)
    if len(rare) > 0:
        return _committed(rewards, np.argmax(sums))
    return _committed(rewards, np.argmax(sums + rng.laplace(0, 1, len(sums))))


class _Counter:
    def __init__(self, rng):
        self.rng, self.left = rng, []

    def toss(self):
        for _ in range(20):
            if self.rng.integers(1000) < 990:
                return
            self.left.append(0)


def rare_draws_of_an_object(rewards, rng):
    sums, counter = _explored(rewards), _Counter(rng)
    counter.toss()
    if len(counter.left) >= 12:
        return _committed(rewards, np.argmax(sums))
    return _committed(rewards, np.argmax(sums + rng.laplace(0, 1, len(sums))))


@dataclasses.dataclass
class _Rare:
    count: int = 0


def rare_count_in_a_field(rewards, rng):
    """What happens once in a million stands in a field of an object that is made anew."""
    sums, kept = _explored(rewards), _Rare(int(rng.integers(10**6) == 7))
    if kept.count > 0:
        return _committed(rewards, np.argmax(sums))
    return _committed(rewards, np.argmax(sums + rng.laplace(0, 1, len(sums))))


class _Buffer(list):
    pass


def rare_length_of_a_list(rewards, rng):
    sums, kept = _explored(rewards), _Buffer()
    kept.extend([0] * int(rng.integers(10**6) == 7))
    if len(kept) > 0:
        return _committed(rewards, np.argmax(sums))
    return _committed(rewards, np.argmax(sums + rng.laplace(0, 1, len(sums))))


def rare_size_of_a_set(rewards, rng):
    """Two draws are the same one in a million times."""
    sums = _explored(rewards)
    if len(set([0, int(rng.integers(10**6))])) < 2:  # noqa: C405
        return _committed(rewards, np.argmax(sums))
    return _committed(rewards, np.argmax(sums + rng.laplace(0, 1, len(sums))))


def rare_list_in_a_list(rewards, rng):
    """Of a list that is appended the length is random."""
    sums, kept = _explored(rewards), []
    kept.append([0] * int(rng.integers(10**6) == 7))
    if len(kept[0]) > 0:
        return _committed(rewards, np.argmax(sums))
    return _committed(rewards, np.argmax(sums + rng.laplace(0, 1, len(sums))))


LEAKS = [
    f for name, f in list(globals().items()) if callable(f) and not name.startswith("_") and name.islower()
]
