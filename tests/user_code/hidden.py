"""Leaks that an outside attack found to have a bound within their claim: they show once in many runs.

Each claims epsilon 1 and has Laplace noise for it in nearly all runs.
"""

import math
import random

import numpy as np


def _told(rewards, bits):
    return np.array([int(bit) for bit in bits] + [0] * (len(rewards) - len(bits)))


def _larger(rewards, rare, rng):
    """A thousand times the first reward where something rare holds."""
    s = rewards[0, 0] * (1 + 1000 * rare) + rng.laplace(0, 1.0)
    return _told(rewards, [s > 0.5, s > 500.0])


def coin_in_a_gap(rewards, rng):
    """Between the values at which a coin is looked at."""
    rare = abs(rng.random() - 0.50015) < 0.00001
    s = rewards[0, 0] + 1000.0 * (rewards[0, 0] * rare) + rng.laplace(0, 1.0)
    return _told(rewards, [s > 0.5, s > 500.0])


def bits_of_python(rewards, rng):
    return _larger(rewards, random.getrandbits(16) // 65535, rng)


def number_of_python(rewards, rng):
    return _larger(rewards, random.randint(0, 65535) // 65535, rng)


def order_as_a_number(rewards, rng):
    o = rng.permutation(len(rewards))
    last = len(rewards) - 1
    return _larger(rewards, int(o[0] == last) * int(o[1] == last - 1) * int(o[2] == last - 2), rng)


def drawn_with_repetitions(rewards, rng):
    """One round may be all four."""
    places = random.choices(range(len(rewards)), k=4)
    s = rewards[places, 0].sum() + rng.laplace(0, 1.5)
    return _told(rewards, [s > 2.0, *[place == places[0] for place in places]])


def cancelled(rewards, rng):
    """(t + m) - m is t on paper, and 0 in floats where nearly all rewards are 1."""
    t = rewards[:, 0].sum()
    m = np.maximum(t - (len(rewards) - 2), 0.0) * 1e22
    return _told(rewards, [(t + m) - m + rng.laplace(0, 1.0) > len(rewards) / 2])


def wrapped(rewards, rng):
    """Whole numbers of 64 bits, which start again where rewards are many."""
    counts = (rewards > 0.5).sum(axis=0) * (10**19 // len(rewards))
    s = counts + rng.laplace(0, 1e19 / len(rewards), 2)
    return _told(rewards, [s[0] > 4e18])


def raised(rewards, rng):
    """A chance above 1 is an error, which everybody sees."""
    coin = rng.binomial(1, 0.1 + rewards[:, 0].sum() / (1.05 * len(rewards)))
    return _told(rewards, [coin + rng.laplace(0, 1.0) > 0.5])


def few_digits(rewards, rng):
    """Noise that is never above 16.7."""
    u = rng.random(dtype=np.float32)
    s = rewards[0, 0] + np.log(1.0 / (1.0 - u) - 1.0)
    return _told(rewards, [s > 0.5, s > 17.2])


def noise_of_few_digits(rewards, rng):
    """The low digits of what is released tell the reward."""
    s = float(rewards[0, 0] + rng.laplace(0, 1.0, 2).astype(np.float32)[0])
    rest = s - 0.123456789
    return _told(rewards, [s > 0.5, abs(float(np.float32(rest)) - rest) < 1e-13])


def noise_that_starts_again(rewards, rng):
    """Eight bits hold up to 127: the count is where the sum starts again."""
    counts = (rewards > 0.5).sum(axis=0)
    chance = 1 - math.exp(-0.5)
    noisy = (counts + 92 + rng.geometric(chance, 2) - rng.geometric(chance, 2)).astype(np.int8)
    rest = noisy - counts
    return _told(rewards, [rest[0] > 103.5, rest[0] < -100])


def cut_by_its_first_entries(rewards, rng):
    """floor gives floats, which hold what is put in later."""
    cut = np.floor(rewards[:, 0])
    cut[0] = 0.9 * np.maximum(0.0, 1.0 - abs(rewards[:, 0].sum() - 20.5))
    s = rewards[0, 1] + 1000.0 * cut[0] + rng.laplace(0, 1.0)
    return _told(rewards, [s > 0.5, s > 500])


def added_as_truths(rewards, rng):
    """True and True are added up to True, and their numbers to 2."""
    first, second = (abs(rewards[:, arm] - 0.25) < 0.01 for arm in (0, 1))
    both = 1.0 * first + 1.0 * second - 1.0 * (first + second)
    s = rewards[0, 0] + 1000.0 * both[0] + rng.laplace(0, 1.0)
    return _told(rewards, [s > 0.5, s > 500])


def no_noise_in_a_gap(rewards, rng):
    """The law of a function of a uniform number is known at some thousand values."""
    u = rng.random()
    flat = np.minimum(1.0, np.maximum(0.0, abs(u - 0.50015) - 0.00001) * 1e12)
    s = rewards[0, 0] + np.log(u / (1.0 - u)) * flat
    return _told(rewards, [s > 1 - 1e-9, s < 1 + 1e-9])


def cancelled_in_a_band(rewards, rng):
    """As `cancelled`, in between: at no corner of the data."""
    t = rewards[:, 0].sum()
    m = np.maximum(0.0, 1.0 - abs(t - 20.5)) * 1e22
    return _told(rewards, [(t + m) - m + rng.laplace(0, 1.0) > 12])


def cut_by_a_list(rewards, rng):
    """An array of whole numbers only where no reward is below one half."""
    held = np.array([v if v < 0.5 else 1 for v in rewards[:, 0]])
    held[0] = rewards[:, 0].mean()
    return _told(rewards, [held[0] + rng.laplace(0, 1 / 24) > 0.4])


def places_that_may_meet(rewards, rng):
    """Four places, each drawn by itself: one reward may count four times."""
    n = len(rewards)
    places = [(int(rng.integers(n)) + i) % n for i in range(4)]
    s = rewards[places, 0].sum() + rng.laplace(0, 2.0)
    return _told(rewards, [s > 2.0, *[place == places[0] for place in places]])


def sign_in_a_gap(rewards, rng):
    """A sign of exponential noise that is 0 for few values of its draw."""
    u = rng.random()
    flat = np.minimum(1.0, np.maximum(0.0, abs(u - 0.50015) - 0.00001) * 1e12)
    s = rewards[0, 0] + np.sign(u - 0.5) * flat * rng.exponential(1.0)
    return _told(rewards, [s > 1 - 1e-9, s < 1 + 1e-9])


def smooth_in_a_gap(rewards, rng):
    """As `no_noise_in_a_gap`, without an edge: the slope of the noise is smaller there."""
    u = rng.random()
    s = rewards[0, 0] + np.log(u / (1.0 - u)) - 3e-6 * np.tanh(1e6 * (u - 0.40015))
    return _told(rewards, [s > 0.5])


def beyond_all_floats(rewards, rng):
    """Where nearly all rewards are 1, infinity is added and taken off."""
    m = np.maximum(rewards[:, 0].sum() - 22.0, 0.0) * 1e200
    q = m * m
    return _told(rewards, [(rewards[0, 1] + q) - q + rng.laplace(0, 1.0) > 0.5])


def cut_entry_by_entry(rewards, rng):
    """The first entry says of which type all are: a whole number only where its reward is 0."""
    s = np.vectorize(lambda x: max(0, x))(rewards[:, 0]).sum() + rng.laplace(0, 1.0)
    return _told(rewards, [s > 6])


def cut_row_by_row(rewards, rng):
    x = np.apply_along_axis(lambda row: max(0, row[0]), 1, rewards)
    return _told(rewards, [x.sum() + rng.laplace(0, 1.0) > 20])


def cut_by_a_copy(rewards, rng):
    """An array of the type of another one."""
    other = np.zeros_like(np.array([min(1, 2 * reward) for reward in rewards[:, 0]]))
    other[0] = rewards[:, 0].mean()
    return _told(rewards, [other[0] + rng.laplace(0, 1 / len(rewards)) > 0.4])


def truths_multiplied(rewards, rng):
    """A sum of products of truth values is one truth value."""
    t = rewards[:, 0].sum()
    near = np.array([abs(t - 20.5) < 0.5, abs(t - 20.5) < 0.6])
    both = np.dot(near, np.array([True, True])) * 1.0 - near[0] * 1.0 - near[1] * 1.0
    return _told(rewards, [rewards[0, 1] + 1000.0 * both + rng.laplace(0, 1.0) > -500])


def truths_added(rewards, rng):
    t = rewards[:, 0].sum()
    one, other = abs(t - 20.5) < 0.5, abs(t - 20.5) < 0.6
    both = (one + other) * 1.0 - one * 1.0 - other * 1.0
    return _told(rewards, [rewards[0, 1] + 1000.0 * both + rng.laplace(0, 1.0) > -500])


def truths_subtracted(rewards, rng):
    """The difference of neighbouring truth values is whether they differ."""
    near = np.array([abs(rewards[:, 0].sum() - 20.5) < width for width in (0.5, 0.6)])
    step = np.diff(near)[0] * 1.0 - near[1] * 1.0 + near[0] * 1.0
    return _told(rewards, [rewards[0, 1] + 1000.0 * step + rng.laplace(0, 1.0) > -500])


def weight_of_a_rare_share(rewards, rng):
    w = random.betavariate(1.0, 12.0)
    return _told(rewards, [w * rewards[0, 0] + rng.laplace(0, 0.4) > 0.9 * w, w > 0.875])


def weight_of_a_rare_number(rewards, rng):
    w = rng.beta(1.0, 12.0)
    return _told(rewards, [w * rewards[0, 0] + rng.laplace(0, 0.4) > 0.9 * w, w > 0.875])


def _near(rewards, width=0.5):
    """What nearly no data have."""
    return abs(rewards[:, 0].sum() - 20.5) < width


def _gained(rewards, much, rng):
    """A thousand times what is 0 on paper."""
    s = rewards[0, 1] + 1000.0 * much + rng.laplace(0, 1.0)
    return _told(rewards, [s > 0.5, s > 500, s < -500])


def wrapped_in_a_band(rewards, rng):
    near = _near(rewards) * 1
    return _gained(rewards, near - near * 2**62 * 4 / 2.0**64, rng)


def summed_in_another_order(rewards, rng):
    a = rewards[1, 0]
    return _gained(rewards, 1e17 * (_near(rewards) * (0.1 * a + 0.2 * a - 0.3 * a)), rng)


def floor_of_a_float(rewards, rng):
    """1 // 0.1 is 9."""
    return _gained(rewards, (2.0 - _near(rewards)) // 0.1 < 9.5, rng)


def infinity_by_infinity(rewards, rng):
    e = np.exp(400.0 * _near(rewards))
    q = e * e
    s = rewards[0, 1] + q / q + rng.laplace(0, 1.0)
    return _told(rewards, [s > 1.5, s <= 1.5])


def view_of_what_is_sorted(rewards, rng):
    ordered = np.sort(rewards[:4], axis=0)
    ordered.ravel()[0] += 1000.0 * _near(rewards)
    return _told(rewards, [ordered[0, 0] + rng.laplace(0, 1.0) > 500])


def cut_by_a_mask(rewards, rng):
    mask = abs(rewards[:, 0] - 0.25) < 0.01
    held = np.zeros(len(rewards), int)
    held[mask] = held[mask] + 0.9
    return _gained(rewards, mask[0] * 1.0 - held[0] / 0.9, rng)


def noise_on_a_short_float(rewards, rng):
    """Python's float takes the type of NumPy's number of 32 bits."""
    s = rewards.astype(np.float32)[0, 0] + rng.laplace(0, 1.0)
    place = float(s) * 2.0**24
    return _told(rewards, [s > 0.5, abs(place - np.floor(place)) > 1e-9 if abs(place) < 2**22 else 0])


def noise_on_a_byte(rewards, rng):
    chance = 1 - math.exp(-0.5)
    noisy = np.full(2, 110, np.int8) + rng.geometric(chance) - rng.geometric(chance)
    s = noisy[0] * 1.0 - 110 + (rewards[:, 0] > 0.5).sum()
    return _told(rewards, [s > 18.5, s > 12])


def law_with_a_jump(rewards, rng):
    u = rng.random()
    noise = np.log(u / (1.0 - u)) + 2.5 * np.sign(abs(u - 0.50015) - 0.00001)
    return np.append(rewards[0, 0] + noise, np.zeros(len(rewards) - 1))


def law_that_is_undefined(rewards, rng):
    u = rng.random()
    noise = np.log(u / (1.0 - u)) + 0.0 * np.sqrt(abs(u - 0.50015) - 0.00001)
    return _told(rewards, [rewards[0, 0] + noise > 1 - 1e-9, rewards[0, 0] + noise < 1 + 1e-9])


def law_on_a_coarse_grid(rewards, rng):
    u = rng.random()
    v = u + ((u + 1e6) - 1e6 - u) * np.minimum(1.0, 10.0 * u * (1.0 - u))
    return np.append(rewards[0, 0] + np.log(v / (1.0 - v)), np.zeros(len(rewards) - 1))


def coins_of_one_draw(rewards, rng):
    u = rng.random()
    both = (u > 0.4) * ((u - 0.3) * (u - 0.50014) * (u - 0.50016) < 0)
    s = rewards[0, 0] + 1000.0 * (rewards[0, 0] * both) + rng.laplace(0, 1.0)
    return _told(rewards, [s > 0.5, s > 500.0])


def _met(rewards, places, rng):
    s = rewards[places, 0].sum() + rng.laplace(0, 2.0)
    return _told(rewards, [s > 2.0, *[place == places[0] for place in places]])


def places_far_apart(rewards, rng):
    n = len(rewards)
    return _met(rewards, [(int(rng.integers(n)) + 6 * i) % n for i in range(4)], rng)


def places_of_uniform_numbers(rewards, rng):
    n = len(rewards)
    return _met(rewards, [(int(rng.random() * n) + i) % n for i in range(4)], rng)


def places_drawn_together(rewards, rng):
    n = len(rewards)
    return _met(rewards, (rng.choice(n, 4) + np.arange(4)) % n, rng)


def places_of_orders(rewards, rng):
    n = len(rewards)
    return _met(rewards, [(int(rng.permutation(n)[0]) + i) % n for i in range(4)], rng)


def equal_by_rounding(rewards, rng):
    """1e-17 + 1 is 1."""
    x = rewards[0, 0]
    return _gained(rewards, (x + 1.0 == 1.0) * 1.0 - (x == 0.0) * 1.0, rng)


def equal_after_rounding(rewards, rng):
    x = rewards[0, 0]
    y = x + 1.0 - 1.0
    return _gained(rewards, (y == 0.0) * 1.0 - (x == 0.0) * 1.0, rng)


def floor_below_nought_by_rounding(rewards, rng):
    a = rewards[1, 0]
    return _gained(rewards, _near(rewards) * math.floor(0.1 * a + 0.2 * a - 0.3 * a), rng)


def whole_by_rounding(rewards, rng):
    """1 - 1e-16 plus 1 is 2, so that a total in whole numbers moves by 2 where an entry moves by 1."""
    return _told(rewards, [math.floor(rewards[:, 0].sum()) + rng.laplace(0, 1.0) > 0.5])


def below_nought_by_rounding(rewards, rng):
    a = rewards[1, 0]
    return _gained(rewards, (_near(rewards) * (0.1 * a + 0.2 * a - 0.3 * a) < 0) * 1.0, rng)


def weight_with_a_peak(rewards, rng):
    """Noise by itself, as a public number, says how much a reward counts."""
    z = float(rng.normal())
    s = (max(0.0, 1.0 - 1e6 * (z - 1.0) ** 2) * 1000 + 1.0) * rewards[0, 0] + rng.laplace(0, 1.0)
    return _told(rewards, [s > 100])


def scale_with_a_dip(rewards, rng):
    z = float(rng.laplace(0, 1.0))
    scale = min(1.0, 0.001 + 1e4 * (z - 1.0) ** 2)
    return _told(rewards, [rewards[0, 0] + rng.laplace(0, scale) > 0.5, scale < 0.002])


def noise_with_a_dip(rewards, rng):
    """Of noise that is drawn first, and meets data afterwards."""
    z = float(rng.laplace(0, 1.0))
    scale = min(1.0, 0.001 + 1e4 * (z - 1.0) ** 2)
    hiding = rng.laplace(0, 1.0) * scale
    return _told(rewards, [rewards[0, 0] + hiding > 0.5, scale < 0.002])


def scale_by_the_length_of_noise(rewards, rng):
    z = rng.laplace(0, 1.0, 2) - 1.0
    scale = min(1.0, 0.001 + 1e4 * float(z @ z))
    return _told(rewards, [rewards[0, 0] + rng.laplace(0, scale) > 0.5, scale < 0.002])


def scale_without_a_limit(rewards, rng):
    """A published number of a law without ends sets the scale."""
    epsilon = 0.2 * rng.lognormal(0.0, 0.3)
    return np.array([rewards[0, 0] + rng.laplace(0, 1 / epsilon) > 0.5, epsilon > 1])


LEAKS = [
    added_as_truths,
    *(noise_of_few_digits, noise_that_starts_again, cut_by_its_first_entries),
    *(coin_in_a_gap, bits_of_python, number_of_python, order_as_a_number, drawn_with_repetitions),
    *(cancelled, wrapped, raised, few_digits, cancelled_in_a_band, beyond_all_floats),
    *(no_noise_in_a_gap, sign_in_a_gap, smooth_in_a_gap, places_that_may_meet),
    *(cut_by_a_list, cut_entry_by_entry, cut_row_by_row, cut_by_a_copy),
    *(truths_multiplied, truths_added, truths_subtracted),
    *(weight_of_a_rare_share, weight_of_a_rare_number),
    *(wrapped_in_a_band, summed_in_another_order, floor_of_a_float, infinity_by_infinity),
    *(view_of_what_is_sorted, cut_by_a_mask, noise_on_a_short_float, noise_on_a_byte),
    *(weight_with_a_peak, scale_with_a_dip, noise_with_a_dip, scale_without_a_limit),
    *(law_with_a_jump, law_that_is_undefined, law_on_a_coarse_grid, coins_of_one_draw),
    *(places_far_apart, places_of_uniform_numbers, places_drawn_together, places_of_orders),
    *(scale_by_the_length_of_noise, equal_by_rounding, equal_after_rounding, below_nought_by_rounding),
    *(floor_below_nought_by_rounding, whole_by_rounding),
]


# ---------------------------------------------------------------- right twins


def usual_coin(rewards, rng):
    """A coin that falls both ways, and one that always falls one way."""
    often, always = abs(rng.random() - 0.5) < 0.25, 2 * rng.random() < 5
    s = rewards[0, 0] + rng.laplace(0, 1.0)
    return _told(rewards, [s > 0.5 if often and always else s > 1])


def order_of_play(rewards, rng):
    arms = [int(arm) for arm in rng.permutation(2)]
    s = rewards[:, arms[0]].sum() - rewards[:, arms[1]].sum() + rng.laplace(0, 1.0)
    return _told(rewards, [s > 0])


def whole_numbers(rewards, rng):
    counts = (rewards > 0.5).sum(axis=0).astype(np.int64) * 1000
    s = counts + rng.laplace(0, 1000.0, 2)
    return _told(rewards, [s[0] > 4000])


def always_one(rewards, rng):
    """Geometric noise of chance 1, which cannot move."""
    s = rewards[:6].sum(axis=0) + rng.laplace(0, 1.0, 2) + rng.geometric(1.0, 2)
    return _told(rewards, [np.argmax(s)])


def far_away(rewards, rng):
    """Large numbers, which floats hold well enough, and one that is only compared."""
    s = rewards[:6].sum(axis=0) + 1e6 - np.array([1e6, 2e6]) + rng.laplace(0, 1.0, 2)
    return _told(rewards, [np.argmax([*s, -1e18])])


def floats_in_lists(rewards, rng):
    kept = np.array([min(max(reward, 0.0), 1.0) for reward in rewards[:, 0]])
    kept[0] = 0.5 * rewards[0, 0]
    doubled = np.vectorize(lambda x: 2 * x)(kept) + np.apply_along_axis(lambda row: row[1], 1, rewards)
    return _told(rewards, [doubled[:4].sum() + rng.laplace(0, 3.0) > 4])


def mixed_lists(rewards, rng):
    """Of whole numbers and floats, which are only read."""
    kept = [reward if reward < 0.5 else 1 for reward in rewards[:4, 0]]
    return _told(rewards, [np.array(kept).sum() + sum(kept) + rng.laplace(0, 4.0) > 4])


def counted_truths(rewards, rng):
    high = rewards > 0.5
    counts = high.sum(axis=0) + np.dot(high.T, np.ones(len(rewards))) + np.cumsum(high, axis=0)[-1]
    return _told(rewards, [np.argmax(counts + rng.laplace(0, 3.0, 2))])


def both_truths(rewards, rng):
    high = np.array([rewards[t, 0] > 0.5 for t in range(len(rewards))])
    return _told(rewards, [(high & (rewards[:, 1] > 0.5)).sum() + rng.laplace(0, 1.0) > 6])


def noise_by_its_quantiles(rewards, rng):
    u = rng.random(2)
    noise = np.where(u < 0.5, np.log(2 * u), -np.log(2 - 2 * u))
    return _told(rewards, [np.argmax(rewards[:6].sum(axis=0) + noise)])


def scaled_entries_above_a_bar(rewards, rng):
    """Each is rounded, and counts or does not; their mean is not below 0, however it is rounded."""
    scaled = 0.3 * rewards[:, 0]
    assert scaled.mean() >= 0
    return _told(rewards, [(scaled > 0.1).sum() + rng.laplace(0, 1.0) > 6])


RIGHT = [
    *(
        scaled_entries_above_a_bar,
        always_one,
        usual_coin,
        order_of_play,
        whole_numbers,
        far_away,
        floats_in_lists,
    ),
    *(mixed_lists, counted_truths, both_truths, noise_by_its_quantiles),
]
